"""The parts of an SSI link: packets, commands, exchanges, options. The family is `drivers.zebra_ssi`."""
