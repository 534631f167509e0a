// Texts of the help (help.txt), in one language.

import { PROVIDERS, providerNames, REQUIRED_PROVIDERS } from '../../providers/list.ts'
import { readAsset } from '../../runtime/assets.ts'
import type { Language } from './locale.ts'

const FILE = 'src/cli/help/help.txt'
const MARKER = /^\[(en|es)\]$/
const PREFIX = /^(#+ |\$ |\S+: )?/ // precedes the text of a translated line
const ABOUT = '\n\n' // separates the head of a section from its long text

export type HelpTexts = {
  /** Names of commands, grouped by task. */
  groups: readonly { title: string; commands: readonly string[] }[]
  /** Returns a text by its name, with values in place of `{name}`. */
  text(name: string, values?: Record<string, string>): string
  /** Returns the text of this English error; an error that the file lacks stays English. */
  translate(english: string): string
  /** Returns the texts of a command; `about`: its long text, if any. */
  command(name: string): { summary: string; example: string; about: string | undefined }
  /** Returns the help of an option: the command's own text, else the common one. */
  option(name: string, command?: string): string
  /** Translates placeholders such as `NAME`. */
  placeholder(text: string): string
  /** Names of all texts. */
  names: readonly string[]
}

/** Reads the texts of a language. */
export function helpTexts(language: Language): HelpTexts {
  const [first = '', ...parts] = languageLines(language)
    .join('\n')
    .split(/^(?=##? )/m)
  const common = new Map(
    [...first.matchAll(/^(\S+): (.*)$/gm)].map(([, name = '', text = '']) => [name, text]),
  )
  const groups: { title: string; commands: string[] }[] = []
  const sections = new Map<string, string>()
  for (const part of parts) {
    const [, mark, name = '', body = ''] = /^(##?) (.*)\n([\s\S]*)$/.exec(part) ?? []
    if (mark === '#') groups.push({ title: name, commands: [] })
    else {
      sections.set(name, body.trim())
      groups.at(-1)?.commands.push(name)
    }
  }
  const sectionHead = (command: string) => sections.get(command)?.split(ABOUT, 1)[0] ?? ''
  return {
    groups,
    names: [...common.keys(), ...sections.keys()],
    text: (name, values) => fill(common.get(name) ?? '', values),
    translate: (english) => (language === 'en' ? english : translateError(english, common)),
    command(name) {
      const head = sectionHead(name)
      const about = sections.get(name)?.slice(head.length + ABOUT.length)
      return {
        summary: (head.split('\n', 1)[0] ?? '').replace('{providers}', () =>
          providerNames(REQUIRED_PROVIDERS, language),
        ),
        example: /^\$ (.*)$/m.exec(head)?.[1] ?? '',
        about: about
          ? about.replace(/^\{[\w ]+\}$/gm, (included) => sections.get(included) ?? '')
          : undefined,
      }
    },
    option(name, command = '') {
      const own = new RegExp(`^--${name}: (.*)$`, 'm').exec(sectionHead(command))?.[1]
      return own ?? common.get(`--${name}`) ?? providerText(name, language)
    },
    placeholder: (words) => words.replace(/\b[A-Z]+\b/g, (word) => common.get(word) ?? word),
  }
}

/** Finds the English text `error.…` of these words, in which `{name}` matches any, and fills the other text. */
function translateError(english: string, common: ReadonlyMap<string, string>): string {
  const texts = languageLines('en').join('\n')
  for (const [, name = '', text = ''] of texts.matchAll(/^(error\.\S+): (.*)$/gm)) {
    const pattern = RegExp.escape(text).replace(/\\\{(\w+)\\\}/g, '(?<$1>.*)')
    const match = new RegExp(`^${pattern}$`, 's').exec(english)
    if (match) return fill(common.get(name) ?? '', match.groups)
  }
  return english
}

function fill(text: string, values: Record<string, string> = {}): string {
  return text.replace(/\{(\w+)\}/g, (_, value) => values[value] ?? value)
}

/** Returns the lines of the file in a language. */
function languageLines(language: Language): string[] {
  const lines: string[] = []
  let block: string | undefined
  for (const line of readAsset(FILE).split('\n')) {
    const marker = MARKER.exec(line)?.[1]
    if (marker !== undefined || line.startsWith('#')) block = marker
    if (block !== undefined && block !== language) continue
    if (marker !== undefined) lines.push('')
    else if (!line.startsWith('= ')) lines.push(line)
    else if (language === 'es') lines.push((PREFIX.exec(lines.pop() ?? '')?.[0] ?? '') + line.slice(2))
  }
  return lines
}

/** Returns the help of a provider's option, from its settings. */
function providerText(name: string, language: Language): string {
  const all = PROVIDERS.flatMap(({ settings: { schedule, url, pace, token } }) => [
    schedule,
    url,
    pace,
    token,
  ])
  const setting = all.find((one) => one?.option === name)
  return (language === 'es' ? setting?.spanish : setting?.help) ?? ''
}
