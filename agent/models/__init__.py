"""The models: the Messages API, the offline model, a proxy, a scripted one, and servers on this machine."""
