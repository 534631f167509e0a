// What Kubernetes sets in the environment for each service near a program. For one that is called cambista, or
// cambista-metrics, it looks like a setting of ours and is none.

const OF_A_SERVICE = /_SERVICE_(HOST|PORT(_\w+)?)$|_PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?$/
const OF_A_PORT = /_PORT$/
const PLACE = /^(tcp|udp|sctp):\/\//

/** Whether an orchestrator set this variable, such as `CAMBISTA_SERVICE_HOST` or `CAMBISTA_PORT=tcp://10.0.0.1:8080`. */
export function isInjected(name: string, value: string): boolean {
  return OF_A_SERVICE.test(name) || (OF_A_PORT.test(name) && PLACE.test(value))
}
