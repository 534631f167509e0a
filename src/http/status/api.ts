// What probes and administrators ask: is it well? Errors and keys are those of the rates API.

import type { Api } from '../api/api.ts'
import { type Keyring, keyCredentials } from '../api/auth.ts'
import { openapiEndpoint } from '../api/openapi.ts'
import { RATES_ERRORS } from '../rates/errors.ts'
import { type HealthDeps, healthEndpoints } from './health.ts'

export function statusApi(deps: HealthDeps & { keyring: Keyring }): Api {
  return {
    prefixes: ['/api/v1/health', '/healthz', '/readyz'],
    errors: RATES_ERRORS,
    credentials: keyCredentials(deps.keyring),
    endpoints: healthEndpoints(deps),
  }
}

/** The description of all APIs, open to everybody. */
export function descriptionApi(apis: () => readonly Api[]): Api {
  return { prefixes: ['/openapi.json'], errors: RATES_ERRORS, endpoints: [openapiEndpoint(apis)] }
}
