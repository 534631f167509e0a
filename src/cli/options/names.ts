// Type of an option, and the names of its flag and variable.

import { anything, type Format } from './formats.ts'

// Variables that Kubernetes sets for each service of the namespace. For a service named cambista, or
// cambista-metrics, their names begin as settings do.
const SERVICE_VARIABLE = /_SERVICE_(HOST|PORT(_\w+)?)$|_PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?$/
const PORT_VARIABLE = /_PORT$/
const STORAGE = /^(tcp|udp|sctp):\/\//

export type Option = {
  /** Placeholder of the value in the help; undefined: a switch. */
  value: string | undefined
  /** Default text, parsed if neither flag nor variable is set; undefined: none. */
  fallback: string | undefined
  /** Validates and parses the text. */
  format: Format<unknown>
  /** Repeatable, without a default. Its variable, if any, separates the values by commas. */
  repeats?: boolean
}

/** An option with a value. */
export function option<F, const Fallback extends string | undefined = undefined>(
  value: string,
  format: F,
  fallback?: Fallback,
) {
  return { value, format, fallback: fallback as Fallback }
}

/** A repeatable option. */
export function list<F>(value: string, format: F) {
  return { ...option(value, format), repeats: true as const }
}

/** A switch. */
export const flag = { value: undefined, fallback: undefined, format: anything }

/** Name of an option that a provider defines. */
export type ProviderOption = string & { readonly of: 'provider' }

export function variableName(name: string): string {
  return `CAMBISTA_${name.toUpperCase().replaceAll('-', '_')}`
}

/** Returns true for a variable of an orchestrator: `CAMBISTA_SERVICE_HOST`, `CAMBISTA_PORT=tcp://10.0.0.1:8080`. */
export function isInjected(name: string, value: string): boolean {
  return SERVICE_VARIABLE.test(name) || (PORT_VARIABLE.test(name) && STORAGE.test(value))
}
