// What an option is, and the names that it has.

import type { Format } from './option-formats.ts'

// What Kubernetes sets in the environment for each service near a program. For one that is called cambista, or
// cambista-metrics, it looks like a setting of ours and is none.
const OF_A_SERVICE = /_SERVICE_(HOST|PORT(_\w+)?)$|_PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?$/
const OF_A_PORT = /_PORT$/
const PLACE = /^(tcp|udp|sctp):\/\//

export type Option = {
  /** What stands for the value in the help; undefined: a switch. */
  value: string | undefined
  /** The text that is parsed when neither flag nor variable is given; undefined: none. */
  fallback: string | undefined
  help: string
  /** What its text may be, and what a command gets for it. */
  format: Format<unknown>
  /** May be given several times, and has no default. In its variable, if it has one, there are commas between. */
  repeats?: boolean
}

/** The name of an option that a provider brings. */
export type ProviderOption = string & { readonly of: 'provider' }

export function variableOf(name: string): string {
  return `CAMBISTA_${name.toUpperCase().replaceAll('-', '_')}`
}

/** Whether an orchestrator set this variable, such as `CAMBISTA_SERVICE_HOST` or `CAMBISTA_PORT=tcp://10.0.0.1:8080`. */
export function isInjected(name: string, value: string): boolean {
  return OF_A_SERVICE.test(name) || (OF_A_PORT.test(name) && PLACE.test(value))
}
