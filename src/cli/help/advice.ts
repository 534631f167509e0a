// Advice for errors, as a command or an option. Errors of the command line are data, so that they can be printed in the
// language of the help.

import { type Advice, AppError } from '../../runtime/errors.ts'
import type { NamedText } from '../options/formats.ts'
import { type HelpTexts, helpTexts } from './texts.ts'

/** Error in the words of a command line. */
export type UsageError =
  | { reason: 'no-command' }
  /** `near`: commands that were probably meant, else `group`: commands with the same first word. */
  | { reason: 'unknown-command'; typed: string; near: readonly string[]; group: readonly string[] }
  /** `takes`: all flags of the command, if they are few. */
  | { reason: 'unknown-flag'; flag: string; near: string | undefined; takes: readonly string[] | undefined }
  | { reason: 'missing-flag'; flag: string; choices: readonly string[] }
  /** `next`: word after the flag, which begins with a dash. */
  | { reason: 'missing-value'; flag: string; next: string | undefined }
  | { reason: 'needless-value'; flag: string }
  /** `source`: flag or variable. `fault`: words of its format that follow it, in English where they are a string. */
  | { reason: 'wrong-value'; source: string; fault: string | NamedText; typed: string | undefined }
  /** `usage`: name and words of the command. */
  | { reason: 'missing-word' | 'extra-word'; word: string; usage: string }
  /** Address of a database, perhaps with a password. `takes`: options that accept it. */
  | { reason: 'address-word'; takes: readonly string[] }
  | { reason: 'unknown-topic'; word: string; near: string | undefined; topics: readonly string[] }
  | { reason: 'unknown-example'; word: string; near: string | undefined; names: readonly string[] }

const DATABASE_ADDRESS = /^\W*(postgre\w*|psql|pg):/i

/** Returns the AppError, with its message in English and passwords masked. */
export function usageError(input: UsageError): AppError {
  const details = withoutPasswords(input)
  return new AppError('usage', usageErrorText(details, helpTexts('en')), { details })
}

/** Returns true for the address of a database, also a mistyped one. */
export function isDatabaseAddress(word: string): boolean {
  return DATABASE_ADDRESS.test(word)
}

/** Masks the user info of a URL and text after `password=`, so that messages show no password. */
export function maskPassword(word: string): string {
  return word.replace(/:\/\/.*@/s, '://***@').replace(/(password\s*=).*/is, '$1***')
}

function withoutPasswords(details: UsageError): UsageError {
  const fields = Object.entries(details).map(([name, value]) => [
    name,
    typeof value === 'string' ? maskPassword(value) : value,
  ])
  return Object.fromEntries(fields)
}

/** Returns the details of a usage error; undefined for another error. */
export function usageErrorDetails({ code, details }: AppError): UsageError | undefined {
  const isUsageError =
    code === 'usage' && typeof details === 'object' && details !== null && 'reason' in details
  return isUsageError ? (details as UsageError) : undefined
}

/** Returns the message in the language of the texts. */
export function usageErrorText(details: UsageError, texts: HelpTexts): string {
  const flags = (names: readonly string[] = []) => names.map((name) => `--${name}`)
  const or = texts.text('or')
  switch (details.reason) {
    case 'no-command':
      return texts.text('no-command')
    case 'unknown-command': {
      const { near, group } = details
      const variant = near.length > 0 ? '.near' : group.length > 0 ? '.group' : ''
      const names = { near: near.join(`, ${or} `), group: group.join(', ') }
      return texts.text(`unknown-command${variant}`, { typed: JSON.stringify(details.typed), ...names })
    }
    case 'unknown-flag': {
      const { flag, near, takes } = details
      const others = takes === undefined ? '' : takes.length === 0 ? '.none' : '.takes'
      const values = { flag, near: near ?? '', takes: flags(takes).join(', ') }
      return texts.text(`unknown-flag${near === undefined ? others : '.near'}`, values)
    }
    case 'missing-flag': {
      const variant = details.choices.length === 0 ? '' : '.choices'
      return texts.text(`missing-flag${variant}`, { flag: details.flag, choices: details.choices.join(', ') })
    }
    case 'missing-value': {
      const { flag, next } = details
      return texts.text(`missing-value${next === undefined ? '' : '.dash'}`, { flag, next: next ?? '' })
    }
    case 'needless-value':
      return texts.text('needless-value', { flag: details.flag })
    case 'wrong-value': {
      const { source, fault, typed } = details
      const isText = typeof fault === 'string'
      const words = isText ? texts.translate(fault) : texts.text(fault.name, fault.values)
      const hasWrongPart = isText && fault.endsWith(' is none')
      const variant = typed === undefined || hasWrongPart ? '.hidden' : ''
      return texts.text(`wrong-value${variant}`, { source, fault: words, typed: JSON.stringify(typed) ?? '' })
    }
    case 'missing-word':
      return texts.text('missing-word', {
        word: texts.placeholder(details.word),
        usage: texts.placeholder(details.usage),
      })
    case 'extra-word': {
      const usage = texts.placeholder(details.usage)
      return texts.text('extra-word', { word: JSON.stringify(details.word), usage })
    }
    case 'address-word': {
      const takes = flags(details.takes).join(` ${or} `)
      return texts.text(`address-word${takes === '' ? '.none' : ''}`, { takes })
    }
    case 'unknown-topic': {
      const { near, topics } = details
      const values = { word: JSON.stringify(details.word), near: near ?? '', topics: topics.join(', ') }
      return texts.text(`unknown-topic${near ? '.near' : ''}`, values)
    }
    case 'unknown-example': {
      const { near, names } = details
      const values = { word: JSON.stringify(details.word), near: near ?? '', names: names.join(', ') }
      return texts.text(`unknown-example${near ? '.near' : ''}`, values)
    }
  }
}

/** Returns a message with its advice. */
export function messageWithAdvice({ message, advice }: Pick<AppError, 'message' | 'advice'>): string {
  const end = advice && (ADVICE_TEXTS[advice.about] as (one: Advice) => string)(advice)
  return message + (end ?? '')
}

/** Ends of an error line. */
const ADVICE_TEXTS: { [About in Advice['about']]: (advice: Advice & { about: About }) => string } = {
  companies: () => ': see cambista company list',
  agents: () => ': see cambista agent list',
  owners: () => ': see cambista owner list',
  providers: () => ': see cambista provider list',
  series: () => ': see cambista series list',
  indicators: () => ': see cambista indicator list',
  conversion: () => '',
  'new-secret': (advice) => `: make a new one with cambista ${advice.kind} create`,
  expiry: () => ': give --expires DATE, the last day of its new secret',
  'company-change': () => ' (cambista company update changes it)',
  'directory-change': () => ' (cambista directory import changes what is there)',
  days: (advice) =>
    advice.again ? `: ${syncCommand(advice)} reads it again` : `; ${syncCommand(advice)} asks for it`,
  'first-sync': () =>
    ': cambista sync fetches them, and so does a server by itself unless it has --no-scheduler',
  'failed-sync': () => ': cambista sync says why',
  'damaged-rates': ({ id, part, days }) => {
    const repair = days ? `${syncCommand(days)} reads them again; else restore a backup` : 'restore a backup'
    return `: ${repair}, or accept them with cambista doctor --accept-sums ${id} ${part}`
  },
  jump: (advice) => `: cambista sync --accept-jump ${advice.series} ${advice.day} stores it`,
  'later-days': (advice) => `: cambista rates discard --after ${advice.after} removes them`,
  token: (advice) => `; with ${advice.name} (--${advice.option}) the server reads them again by itself`,
  repair: () => ': stop the server and run cambista doctor --repair, which adds them up anew',
  'stopped-server': () => ': stop it first, the command needs its lock',
  'code-change': () => '; cambista directory import changes a code',
  'nightly-backup': () => ' (--backup-dir)',
  damage: () => ': cambista doctor says how',
  'hook-secret': (advice) => `: cambista hook rotate ${advice.id} gives it a new one`,
  'hook-test': (advice) => `: cambista hook test ${advice.id} tries it`,
  'mailbox-test': (advice) => `: cambista mailbox test ${advice.id} tries it`,
  'own-id': (advice) => `: choose one for the ${advice.kind} with --id`,
}

function syncCommand({ from, to }: { from: string; to: string }): string {
  return `cambista sync --from ${from} --to ${to}`
}
