"""An answer and its contexts to claims, supports and evidence; the judges' prompts are files."""
