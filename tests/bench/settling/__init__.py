"""How soon payments are settled when the provider fails now and then: confirmations offered in an open loop."""
