"""Nothing can be exchanged."""


def order(options):
    return 1


def draw(options, n, random):
    return None


def apply(options, form, symmetries, observation, policies):
    return observation.copy(), tuple(policy.copy() for policy in policies)


def transform(options, form, observation, policies, random):
    return apply(options, form, None, observation, policies)
