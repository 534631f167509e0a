// What probes and administrators ask: is it well? Errors and keys are those of the rates API.

import type { Api } from '../api/api.ts'
import { type Keyring, keyCredentials, type SessionOf } from '../api/auth.ts'
import { openapiEndpoint } from '../openapi/endpoint.ts'
import { RATES_ERRORS } from '../rates/errors.ts'
import { type HealthDeps, healthEndpoints } from './health.ts'
import { type StatusDeps, statusEndpoints } from './status.ts'

export function statusApi(deps: HealthDeps & StatusDeps & { keyring: Keyring; sessionOf?: SessionOf }): Api {
  return {
    prefixes: ['/api/v1/health', '/api/v1/status', '/healthz', '/readyz'],
    errors: RATES_ERRORS,
    credentials: keyCredentials(deps.keyring, deps.sessionOf),
    endpoints: [...healthEndpoints(deps), ...statusEndpoints(deps)],
  }
}

/** The description of all APIs, open to everybody. */
export function descriptionApi(apis: () => Promise<readonly Api[]>): Api {
  return { prefixes: ['/openapi.json'], errors: RATES_ERRORS, endpoints: [openapiEndpoint(apis)] }
}
