// Drop-in that grants the service one capability, for ports below 1024. Its unit grants none.

export const LOW_PORTS_FILE = '/etc/systemd/system/cambista.service.d/low-ports.conf'

/** Text of the drop-in. */
export const LOW_PORTS = `# cambista may take ports below 1024, such as 80 and 443. This file is ${LOW_PORTS_FILE};
# after a change: systemctl daemon-reload && systemctl restart cambista

[Service]
CapabilityBoundingSet=CAP_NET_BIND_SERVICE
AmbientCapabilities=CAP_NET_BIND_SERVICE
# With PrivateUsers=yes the capability would not hold for the network of the machine.
PrivateUsers=no
`

/** Commands that install it. */
export const LOW_PORTS_COMMANDS = `sudo mkdir -p /etc/systemd/system/cambista.service.d
cambista service print --low-ports | sudo tee ${LOW_PORTS_FILE}
sudo systemctl daemon-reload && sudo systemctl restart cambista`
