// The language of the help texts: the one that the locale of messages names, as POSIX and gettext say.

import type { Environment } from '../args.ts'
import { ENGLISH, type HelpTexts } from '../help.ts'

export type Language = 'en' | 'es'

/**
 * The first of `LC_ALL`, `LC_MESSAGES` and `LANG` that is not empty is the locale. Unless it is `C` or `POSIX`, the list
 * in `LANGUAGE` comes before it: its first language that there are texts in. English is for all else.
 */
export function languageOf(env: Environment): Language {
  const locale = env.LC_ALL || env.LC_MESSAGES || env.LANG || 'C'
  if (/^(C|POSIX)($|[.@])/.test(locale)) return 'en'
  const wanted = env.LANGUAGE ? env.LANGUAGE.split(':') : [locale]
  return wanted.map(languageIn).find((one) => one !== undefined) ?? 'en'
}

/** The texts of the help; other ones than English are loaded only here. */
export async function helpTexts(env: Environment): Promise<HelpTexts> {
  return languageOf(env) === 'es' ? (await import('./spanish/help.ts')).SPANISH : ENGLISH
}

function languageIn(locale: string): Language | undefined {
  const [, language] = /^([a-zA-Z]+)($|[_.@])/.exec(locale) ?? []
  if (language === 'es') return 'es'
  return language === 'en' || language === 'C' || language === 'POSIX' ? 'en' : undefined
}
