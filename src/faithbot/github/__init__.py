"""GitHub: what the Actions runner hands over and reads back, events, and commits. Nothing of RAG."""
