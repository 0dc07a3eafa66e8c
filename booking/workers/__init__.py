"""Long-running tasks beside the API: sequencer, sweeper, ticket issuer, payments; and the runner that minds them."""
