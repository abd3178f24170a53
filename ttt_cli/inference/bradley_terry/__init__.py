"""Most probable ratings of Bradley-Terry models: Newton, Laplace, information, connectivity."""
