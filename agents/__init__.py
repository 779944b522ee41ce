"""Agents: policies that play from what their seat may know, many games at a time."""

from ..envs.interfaces.decision_batch import DecisionBatch
from .protocol import Agent
from .registry import agent_names, make_agent

__all__ = ["Agent", "DecisionBatch", "agent_names", "make_agent"]
