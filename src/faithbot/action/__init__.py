"""The GitHub Action: what an event asks for, done and delivered; the runner's environment in, exit code out."""
