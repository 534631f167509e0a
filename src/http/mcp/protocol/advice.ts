// What a model can do about an error: it knows the tools, and no paths.

import type { AppError } from '../../../errors.ts'

const BY_CODE: Partial<Record<AppError['code'], string>> = {
  invalid: '. Correct it and call again',
  busy: '. Wait some seconds and call again',
  unavailable: '. Wait a minute and call again',
  unauthorized: '. The key or token ended while this waited: ask your operator for another',
  gone: '. Its bytes are lost: have it sent again',
  conflict: '. Do not call again with this claim',
  'disk-full': '. Tell your operator',
}

/** How an error's message goes on. */
export function nextStep({ code, message, advice }: AppError): string {
  if (advice?.about === 'conversion') {
    return `. The tool convert inverts and chains pairs: call it with from ${advice.from} and to ${advice.to}`
  }
  if (code === 'not-found' && /^Document/.test(message)) return '. list_documents names those that are there'
  if (code === 'not-found' && /^(Company|Agent)/.test(message)) return '. Leave it out, or ask for its id'
  if (code === 'not-found' && /synchronized/.test(message))
    return '. Ask for another day; freshness says more'
  if (code === 'not-found') return '. list_series names the providers, pairs and first days'
  return BY_CODE[code] ?? ''
}
