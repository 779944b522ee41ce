"""Nothing can be exchanged."""


def order(options):
    return 1


def draw(options, n, random):
    return None


def apply(options, encoding, symmetries, observation, policies):
    return observation.copy(), tuple(policy.copy() for policy in policies)


def transform(options, encoding, observation, policies, random):
    return apply(options, encoding, None, observation, policies)
