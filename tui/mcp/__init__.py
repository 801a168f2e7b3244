"""The persona library over MCP, for other agents. Nothing here is imported before `persona mcp` runs."""
