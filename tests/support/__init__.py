"""What tests of all packages are written with: models, servers, stores, terminals, texts."""
