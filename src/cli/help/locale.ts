// Language of texts for people: the locale of messages, as POSIX and gettext define it.

export type Language = 'en' | 'es'

/**
 * Returns the language of `LC_ALL`, `LC_MESSAGES` or `LANG`, the first that is not empty. Unless that locale is `C` or
 * `POSIX`, the languages in `LANGUAGE` come before it. English is the language of all other locales.
 */
export function messageLanguage(env: Readonly<Record<string, string | undefined>>): Language {
  const locale = env.LC_ALL || env.LC_MESSAGES || env.LANG || 'C'
  if (/^(C|POSIX)($|[.@])/.test(locale)) return 'en'
  const locales = env.LANGUAGE ? env.LANGUAGE.split(':') : [locale]
  return locales.map(localeLanguage).find((language) => language !== undefined) ?? 'en'
}

function localeLanguage(locale: string): Language | undefined {
  const [, language] = /^([a-zA-Z]+)($|[_.@])/.exec(locale) ?? []
  if (language === 'es') return 'es'
  return language === 'en' || language === 'C' || language === 'POSIX' ? 'en' : undefined
}
