"""The conformance kit: drives a wallet or an overlay of any make through the contract of the bus."""
