// What an operator can do about an error, as a command or an option; and what was mistyped, as data, so that it can be said
// in the language of the help.

import { type Advice, AppError } from '../errors.ts'

/** What is wrong with the words of a command line. Values of options are not here: their formats say what is wrong. */
export type Misuse =
  | { misuse: 'no-command' }
  /** `near`: the ones that were probably meant, else `group`: those that begin with its first word. */
  | { misuse: 'unknown-command'; typed: string; near: readonly string[]; group: readonly string[] }
  /** `takes`: all flags that there are, if they are few. */
  | { misuse: 'unknown-flag'; flag: string; near: string | undefined; takes: readonly string[] | undefined }
  | { misuse: 'missing-flag'; flag: string; choices: readonly string[] }
  /** `usage`: name and words of the command. */
  | { misuse: 'missing-word' | 'extra-word'; word: string; usage: string }
  /** The address of a database, which may hold a password. `takes`: the options that it may be the value of. */
  | { misuse: 'address-word'; takes: readonly string[] }
  | { misuse: 'unknown-topic'; word: string; near: string | undefined; topics: readonly string[] }

const DATABASE_ADDRESS = /^\W*(postgre\w*|psql|pg):/i

/** The error for what was mistyped, in English. */
export function misused(given: Misuse): AppError {
  const misuse = withoutPasswords(given)
  return new AppError('usage', misuseText(misuse), { details: misuse })
}

/** Whether a word is the address of a database, or was to be one. */
export function isDatabaseAddress(word: string): boolean {
  return DATABASE_ADDRESS.test(word)
}

/** A word as a message may repeat it: what stands before the @ of a URL, or behind `password=`, does not belong into a journal. */
export function masked(word: string): string {
  return word.replace(/:\/\/.*@/s, '://***@').replace(/(password\s*=).*/is, '$1***')
}

function withoutPasswords(misuse: Misuse): Misuse {
  const fields = Object.entries(misuse).map(([name, value]) => [
    name,
    typeof value === 'string' ? masked(value) : value,
  ])
  return Object.fromEntries(fields)
}

/** What was mistyped, if that is the error. */
export function misuseOf({ code, details }: AppError): Misuse | undefined {
  const isMisuse = code === 'usage' && typeof details === 'object' && details !== null && 'misuse' in details
  return isMisuse ? (details as Misuse) : undefined
}

function misuseText(fault: Misuse): string {
  switch (fault.misuse) {
    case 'no-command':
      return 'COMMAND is missing'
    case 'unknown-command': {
      const { typed, near, group } = fault
      const known = `there is no command ${JSON.stringify(typed)}`
      if (near.length > 0) return `${known}: did you mean cambista ${near.join(', or ')}?`
      return group.length > 0 ? `${known}, but there are: ${group.join(', ')}` : known
    }
    case 'unknown-flag': {
      const { flag, near, takes } = fault
      const all = takes?.map((name) => `--${name}`).join(', ')
      const others = all === undefined ? '' : `: this command takes ${all || 'none'}`
      return `unknown flag '${flag}'${near === undefined ? others : `: did you mean --${near}?`}`
    }
    case 'missing-flag': {
      const { flag, choices } = fault
      const hint = choices.length === 0 ? '' : `: give one or more of ${choices.join(', ')}`
      return `--${flag} is missing${hint}`
    }
    case 'missing-word':
      return `${fault.word} is missing; usage: cambista ${fault.usage} [flags]`
    case 'extra-word':
      return `unexpected ${JSON.stringify(fault.word)}; usage: cambista ${fault.usage} [flags]`
    case 'address-word': {
      const options = fault.takes.map((name) => `--${name}`).join(' or ')
      const where = options === '' ? 'this command takes none' : `it is the value of ${options}`
      return `unexpected address of a database: ${where}`
    }
    case 'unknown-topic': {
      const { word, near, topics } = fault
      const hint = near ? `: did you mean ${near}?` : `, but there are: ${topics.join(', ')}`
      return `there is no topic ${JSON.stringify(word)}${hint}`
    }
  }
}

/** A message with what can be done about it. */
export function inWords({ message, advice }: { message: string; advice: Advice | undefined }): string {
  return advice ? message + adviceText(advice) : message
}

/** How the line of an error goes on. */
function adviceText(advice: Advice): string {
  switch (advice.about) {
    case 'companies':
      return ': see cambista company list'
    case 'agents':
      return ': see cambista agent list'
    case 'providers':
      return ': see cambista provider list'
    case 'series':
      return ': see cambista series list'
    case 'conversion':
      return ''
    case 'new-secret':
      return `: make a new one with cambista ${advice.kind} create`
    case 'expiry':
      return ': give --expires DATE, the last day of its new secret'
    case 'company-change':
      return ' (cambista company update changes it)'
    case 'directory-change':
      return ' (cambista directory import changes what is there)'
    case 'days':
      return advice.again ? `: ${syncOf(advice)} reads it again` : `; ${syncOf(advice)} asks for it`
    case 'first-sync':
      return ': cambista sync fetches them, and so does a server by itself unless it has --no-scheduler'
    case 'failed-sync':
      return ': cambista sync says why'
    case 'later-days':
      return `: cambista rates discard --after ${advice.after} removes them`
    case 'token':
      return `; with ${advice.name} (--${advice.option}) the server reads them again by itself`
    case 'repair':
      return ': stop the server and run cambista doctor --repair, which adds them up anew'
    case 'stopped-server':
      return ': stop it first, --repair needs its lock'
    case 'code-change':
      return '; cambista directory import changes a code'
    case 'nightly-backup':
      return ' (--backup-dir)'
    case 'damage':
      return ': cambista doctor says how'
    case 'hook-secret':
      return `: cambista hook rotate ${advice.id} gives it a new one`
    case 'hook-test':
      return `: cambista hook test ${advice.id} tries it`
    case 'own-id':
      return `: choose one for the ${advice.kind} with --id`
  }
}

function syncOf({ from, to }: { from: string; to: string }): string {
  return `cambista sync --from ${from} --to ${to}`
}
