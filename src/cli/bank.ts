// The settings of the central bank's services, from options, a file and the environment.

import { readFileSync } from 'node:fs'
import { VERSION } from '../assets.ts'
import { AppError, codeOf, reasonOf } from '../errors.ts'
import type { ProviderSettings } from '../providers/provider.ts'
import type { Environment } from './args.ts'
import type { OptionValues } from './option-values.ts'
import type { OptionName } from './options.ts'

export const BANK_OPTIONS = ['bccr-url', 'bccr-pace', 'bccr-token-file'] as const satisfies OptionName[]

/**
 * Settings that are read anew at each call, so that a token can be renewed without a restart. There is no flag
 * for the token, because `ps` shows flags. To be called before root becomes the owner of a data directory, who may
 * not be allowed to read the file: then the token that root saw holds.
 */
export function bankSettings(
  options: Pick<OptionValues, (typeof BANK_OPTIONS)[number]>,
  env: Environment,
): () => ProviderSettings {
  const file = options['bccr-token-file']
  const atStart = file ? tokenIn(file) : undefined
  return () => ({
    url: options['bccr-url'],
    paceMs: options['bccr-pace'],
    userAgent: `cambista/${VERSION}`,
    token: (file && tokenNow(file, atStart)) || env.CAMBISTA_BCCR_TOKEN?.trim() || undefined,
  })
}

function tokenNow(file: string, atStart: string | Error | undefined): string {
  const token = tokenIn(file)
  if (typeof token === 'string') return token
  if (codeOf(token) === 'EACCES' && typeof atStart === 'string') return atStart
  throw new AppError('failed', `cannot read the bank's token: ${reasonOf(token)}`, { cause: token })
}

/** The token in a file, empty if there is none in it, or why it cannot be read. */
function tokenIn(file: string): string | Error {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}
