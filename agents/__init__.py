"""Agents: policies that play from what their seat may know, many games at a time."""

from .decisions import Decisions
from .protocol import Agent
from .registry import agent_names, make_agent

__all__ = ["Agent", "Decisions", "agent_names", "make_agent"]
