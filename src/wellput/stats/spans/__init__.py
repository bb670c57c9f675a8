"""How far judges mark the same parts of texts: characters, aligned spans (γ), severities."""
