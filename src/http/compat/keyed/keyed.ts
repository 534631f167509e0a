// Services that sell rates by the key. Each is an API, because each has its own errors.

import type { Api } from '../../endpoint/api.ts'
import type { CompatDeps } from '../shape.ts'
import { APILAYER_ERRORS } from './apilayer.ts'
import { currencylayer } from './currencylayer.ts'
import { EXCHANGERATE_API_ERRORS, exchangerateApi } from './exchangerate-api.ts'
import { fixer } from './fixer.ts'
import { OXR_ERRORS, oxr } from './oxr.ts'

export function keyedApis(deps: CompatDeps): Api[] {
  return [
    {
      prefixes: ['/compat/currencylayer'],
      errors: APILAYER_ERRORS,
      endpoints: currencylayer(deps),
    },
    { prefixes: ['/compat/fixer'], errors: APILAYER_ERRORS, endpoints: fixer(deps) },
    { prefixes: ['/compat/oxr'], errors: OXR_ERRORS, endpoints: oxr(deps) },
    {
      prefixes: ['/compat/exchangerate-api'],
      errors: EXCHANGERATE_API_ERRORS,
      endpoints: exchangerateApi(deps),
    },
  ]
}
