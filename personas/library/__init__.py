"""The library: parts, traits, skills, guardrails and arcs that personas share, and assembling personas from them."""
