// What the service needs for ports below 1024: one capability, of which its unit has none.

export const LOW_PORTS_FILE = '/etc/systemd/system/cambista.service.d/low-ports.conf'

/** A drop-in of the unit. */
export const LOW_PORTS = `# cambista may take ports below 1024, such as 80 and 443. This file is ${LOW_PORTS_FILE};
# after a change: systemctl daemon-reload && systemctl restart cambista

[Service]
CapabilityBoundingSet=CAP_NET_BIND_SERVICE
AmbientCapabilities=CAP_NET_BIND_SERVICE
# With users of its own it would have the capability over a network of its own alone.
PrivateUsers=no
`

/** What an administrator types to have it. */
export const LOW_PORTS_COMMANDS = `sudo mkdir -p /etc/systemd/system/cambista.service.d
cambista service print --low-ports | sudo tee ${LOW_PORTS_FILE}
sudo systemctl daemon-reload && sudo systemctl restart cambista`
