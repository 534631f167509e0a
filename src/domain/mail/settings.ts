// Rules for the settings of a mailbox. Errors are words that follow the name of an option.

import type { MailboxSettings } from '../../store/mail/mailboxes.ts'
import { parseSize, sizeFault } from '../../values/sizes.ts'

const MAX_TEXT = 255
const LOOPBACK = /^(localhost|.*\.localhost|127(\.\d{1,3}){3}|::1)$/i
const HOST = /^([a-z\d]([a-z\d-]*[a-z\d])?(\.[a-z\d]([a-z\d-]*[a-z\d])?)*|[\da-f:]*:[\da-f:.]+)$/i
const DOMAIN = /^[a-z\d]([a-z\d-]*[a-z\d])?(\.[a-z\d]([a-z\d-]*[a-z\d])?)+$/
const ADDRESS = /^[^\s@,<>"]+@([^@]+)$/
const MOST_PATTERNS = 20
const MAX_PATTERN = 100
const SMALLEST = 1024 // bytes
const LARGEST = 100 * 2 ** 20

/** Error of a host of a server; undefined: it is valid. */
export function mailHostError(text: string): string | undefined {
  return HOST.test(text) && text.length <= MAX_TEXT
    ? undefined
    : 'must be the name or IP address of an IMAP server, such as imap.example.com, without port'
}

/** Error of the name of a user or a folder; undefined: it is valid. */
export function mailNameError(text: string): string | undefined {
  const isValid = text !== '' && text.length <= MAX_TEXT && text.isWellFormed() && !/\p{Cc}/u.test(text)
  return isValid && text.trim() === text
    ? undefined
    : `must be 1 to ${MAX_TEXT} characters, no control characters, no spaces at either end`
}

/** Splits a list of senders with commas; `none`: every sender. */
export function parseSenders(text: string): string[] {
  return text === 'none' ? [] : text.split(',').map((one) => one.trim().toLowerCase())
}

/** Error of a list of senders; undefined: it is valid. */
export function sendersError(text: string): string | undefined {
  const isSender = (one: string) => DOMAIN.test(ADDRESS.exec(one)?.[1] ?? one)
  return parseSenders(text).every(isSender)
    ? undefined
    : 'must be domains and addresses with commas between, such as example.com,ana@x.cr, or none'
}

/** Splits a list of patterns with commas; `none`: no pattern. */
export function parsePatterns(text: string): string[] {
  return text === 'none' ? [] : text.split(',').map((one) => one.trim())
}

/** Error of a list of patterns; undefined: it is valid. */
export function patternsError(text: string): string | undefined {
  const patterns = parsePatterns(text)
  const isPattern = (one: string) => one !== '' && one.length <= MAX_PATTERN && !/\p{Cc}/u.test(one)
  return patterns.length <= MOST_PATTERNS && patterns.every(isPattern)
    ? undefined
    : `must be at most ${MOST_PATTERNS} names of at most ${MAX_PATTERN} characters with commas between, with * and ?, such as logo*.png,firma.jpg, or none`
}

/** Error of the size of the largest mail; undefined: it is valid. */
export function mailSizeError(text: string): string | undefined {
  const bytes = sizeFault(text) === undefined ? parseSize(text) : 0
  return bytes >= SMALLEST && bytes <= LARGEST
    ? undefined
    : 'must be a size from 1KiB to 100MiB, such as 40MiB'
}

/** Error of settings that exclude one another, a sentence that names options; undefined: there is none. */
export function settingsError(
  settings: Pick<MailboxSettings, 'host' | 'security' | 'folder' | 'done' | 'rejected'>,
): string | undefined {
  const { host, security, folder } = settings
  if (security === 'none' && !LOOPBACK.test(host)) {
    return '--security none is for a server on this machine alone: use tls or starttls'
  }
  for (const option of ['done', 'rejected'] as const) {
    if (folderName(settings[option]) === folderName(folder))
      return `--${option} must be another folder than --folder, which is ${folder}`
  }
  return undefined
}

/** Returns whether two mailboxes read the same folder of the same account. */
export function readsSameFolder(
  one: Pick<MailboxSettings, 'host' | 'port' | 'user_name' | 'folder'>,
  other: Pick<MailboxSettings, 'host' | 'port' | 'user_name' | 'folder'>,
): boolean {
  const isSameServer = one.host.toLowerCase() === other.host.toLowerCase() && one.port === other.port
  return (
    isSameServer && one.user_name === other.user_name && folderName(one.folder) === folderName(other.folder)
  )
}

/** The name INBOX has no case (RFC 9051, 5.1). */
function folderName(text: string): string {
  return text.toUpperCase() === 'INBOX' ? 'INBOX' : text
}
