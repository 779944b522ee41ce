"""The protocol of agents, which stands below the environments that agents play in."""

from ..envs.interfaces.agent import Agent, AgentFailure, check_agent

__all__ = ["Agent", "AgentFailure", "check_agent"]
