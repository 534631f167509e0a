// Reads a mail into its documents, or the reason that it has none. Each part is a document, a body, inline or left out.
// Nothing of it is trusted: names and texts are those of strangers.

import { cleanText } from '../../values/clean-text.ts'
import { countFiles, openContainers } from './containers.ts'
import { isIgnoredName } from './ignored.ts'
import { numberedName } from './names.ts'
import { type MimePart, parseMail, readAddresses, readHeader, type UnparsedMail } from './parser.ts'
import { type LeftPart, type MailFile, readParts, type WholeReason } from './parts.ts'

/** `bytes` has an ArrayBuffer of its own. `note`: reason to leave a container whole. */
export type MailPart = {
  name: string
  type: string
  bytes: Uint8Array<ArrayBuffer>
  note: WholeReason | null
}

export type RefusalReason = UnparsedMail | 'no documents' | 'winmail.dat'

/** `ignore`: patterns of names. `isWhole`: containers stay whole, since they took too much time or memory. */
export type MailOptions = { ignore: readonly string[]; isWhole?: boolean }

/** Texts are of strangers, without control and direction characters. Empty: none. */
export type MailHeaders = {
  /** With its angle brackets, at most 998 characters. */
  messageId: string | null
  /** First address of From. */
  from: string
  /** Name and address, at most 200 characters. */
  fromText: string
  /** At most 200 characters. */
  subject: string
  /** Addresses of Delivered-To, X-Original-To, To and Cc, in this order, at most 1,000. */
  recipients: string[]
}

/** Parts that are no documents. `inline` and `bodies` are numbers. */
export type OtherParts = { left: LeftPart[]; inline: number; bodies: number }

export type MailContents = MailHeaders &
  OtherParts & {
    /** 1 to 100. */
    parts: MailPart[]
  }

/** `isOverLimits`: it took too much time or memory. */
export type RefusedMail = Pick<MailHeaders, 'fromText' | 'subject'> &
  Pick<OtherParts, 'left'> & {
    refused: RefusalReason
    isOverLimits?: boolean
  }

const MOST_PARTS = 100
const MOST_LEFT = 1000
const MOST_INFLATED = 50 * 1024 * 1024
const LARGEST_LOGO = 20 * 1024
const MOST_RECIPIENTS = 1000
const MAX_TEXT = 200
const MAX_ADDRESS = 320
const MAX_LINE = 998 // longest line of a mail, and so Message-ID
const RECIPIENTS = ['delivered-to', 'x-original-to', 'to', 'cc']
const TNEF_TYPES = new Set(['application/ms-tnef', 'application/vnd.ms-tnef'])

export async function readMail(
  raw: ArrayBuffer,
  { ignore, isWhole = false }: MailOptions = { ignore: [] },
): Promise<MailContents | RefusedMail> {
  const root = await parseMail(raw)
  if (typeof root === 'string') return { refused: root, fromText: '', subject: '', left: [] }
  const headers = readHeaders(root)
  const isIgnored = (path: string | undefined) => isIgnoredName(path, ignore)
  const direct = readParts(root, isIgnored)
  const budget = { files: MOST_PARTS - countFiles(direct.files), bytes: MOST_INFLATED }
  const { files, ...others } = await openContainers(direct, { isIgnored, isWhole, budget })
  const documents = chooseDocuments(files)
  const refused =
    documents.length === 0
      ? 'no documents'
      : documents.length > MOST_PARTS || others.left.length > MOST_LEFT
        ? 'too many parts'
        : documents.every(isTnef)
          ? 'winmail.dat'
          : undefined
  if (refused) return { refused, ...headers, left: others.left.slice(0, MOST_LEFT) }
  const parts = documents.map(({ name, type, bytes, note = null }, at) => ({
    ...{ name: name ?? numberedName(at + 1, type, bytes), type, bytes, note },
  }))
  return { ...headers, ...others, inline: others.inline + files.length - parts.length, parts }
}

/** Leaves the pictures that HTML shows inline, if there is another document. Else large ones are documents. */
function chooseDocuments(files: readonly MailFile[]): MailFile[] {
  const hasOther = files.some((file) => !file.isShown && !isTnef(file))
  return files.filter(({ isShown, bytes }) => !isShown || (!hasOther && bytes.length > LARGEST_LOGO))
}

function readHeaders(root: MimePart): MailHeaders {
  const [sender] = readAddresses(root, 'from')
  const senderText = sender?.name ? `${sender.name} <${sender.address}>` : sender?.address
  return {
    messageId: cleanText(readHeader(root, 'message-id'), MAX_LINE),
    from: cleanLine(sender?.address ?? null, MAX_ADDRESS),
    fromText: cleanLine(senderText ?? readHeader(root, 'from'), MAX_TEXT),
    subject: cleanLine(readHeader(root, 'subject'), MAX_TEXT),
    recipients: listRecipients(root),
  }
}

function isTnef({ name = '', type }: MailFile): boolean {
  return TNEF_TYPES.has(type) || /^winmail\.dat$/i.test(name)
}

function listRecipients(root: MimePart): string[] {
  const addresses = RECIPIENTS.flatMap((key) => readAddresses(root, key)).map(({ address }) => address)
  const clean = addresses.flatMap((address) => cleanText(address, MAX_ADDRESS) ?? [])
  return [...new Set(clean)].slice(0, MOST_RECIPIENTS)
}

function cleanLine(text: string | null, most: number): string {
  return cleanText(text?.replace(/[\t\r\n]+/g, ' ') ?? null, most) ?? ''
}
