"""What has to be right before Spark runs: a Java that it can use, the settings, the session itself."""
