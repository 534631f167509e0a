// Endpoints for probes and operators. Errors and keys are those of the rates API.

import { type FindSession, type Keyring, keyCredentials } from '../access/auth.ts'
import type { Api } from '../endpoint/api.ts'
import { RATES_ERRORS } from '../figures/rates-errors.ts'
import { openapiEndpoints } from '../openapi/endpoint.ts'
import { type HealthDeps, healthEndpoints } from './health.ts'
import { type StatusDeps, statusEndpoints } from './status.ts'

export function statusApi(
  deps: HealthDeps & StatusDeps & { keyring: Keyring; findSession: FindSession },
): Api {
  return {
    prefixes: ['/api/v1/health', '/api/v1/status', '/healthz', '/readyz'],
    errors: RATES_ERRORS,
    credentials: keyCredentials(deps.keyring, deps.findSession),
    endpoints: [...healthEndpoints(deps), ...statusEndpoints(deps)],
  }
}

/** OpenAPI documents of the APIs, without authentication. */
export function descriptionApi(apis: () => Promise<readonly Api[]>): Api {
  return {
    prefixes: ['/openapi.json', '/openapi-compat.json'],
    errors: RATES_ERRORS,
    endpoints: openapiEndpoints(apis),
  }
}
