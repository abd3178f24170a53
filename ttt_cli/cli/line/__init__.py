"""What the command line understands and says: options, completion, examples, errors of usage."""
