// The settings of the central bank's services, from options, a file and the environment.

import { readFileSync } from 'node:fs'
import { VERSION } from '../assets.ts'
import { AppError, reasonOf } from '../errors.ts'
import type { ProviderSettings } from '../providers/provider.ts'
import type { Environment, Values } from './args.ts'
import type { OptionName } from './options.ts'

export const BANK_OPTIONS = ['bccr-url', 'bccr-pace', 'bccr-token-file'] as const satisfies OptionName[]

/**
 * Settings that are read anew at each call, so that a token can be renewed without a restart. There is no flag
 * for the token, because `ps` shows flags.
 */
export function bankSettings(values: Values, env: Environment): () => ProviderSettings {
  return () => ({
    url: values.text('bccr-url'),
    paceMs: values.number('bccr-pace'),
    userAgent: `cambista/${VERSION}`,
    token: tokenOf(values.given('bccr-token-file'), env),
  })
}

/** The token of the file, else of CAMBISTA_BCCR_TOKEN. An empty one is none. */
function tokenOf(file: string | undefined, env: Environment): string | undefined {
  if (file === undefined || file === '') return env.CAMBISTA_BCCR_TOKEN?.trim() || undefined
  try {
    return readFileSync(file, 'utf8').trim() || undefined
  } catch (error) {
    throw new AppError('failed', `cannot read the bank's token: ${reasonOf(error)}`, { cause: error })
  }
}
