// A document as clients see it.

import * as v from 'valibot'
import type { DocumentRow } from '../../store/documents/documents.ts'
import {
  Day,
  DecimalText,
  Instant,
  Integer,
  Rounding,
  titledObject,
  withDescription,
} from '../endpoint/answers/shapes.ts'

export const DocumentStateOut = v.picklist(['new', 'claimed', 'done', 'failed'])

const PartyOut = v.nullable(
  v.object({
    type: withDescription(
      v.nullable(v.string()),
      'Two digits of the law: 01 física, 02 jurídica, 03 DIMEX, 04 NITE',
    ),
    id: withDescription(v.nullable(v.string()), 'Without leading zeros'),
    name: withDescription(v.nullable(v.string()), 'Text of a stranger'),
  }),
)
const Text = v.nullable(v.string())
const AnswerOut = v.object({ outcome: v.string(), document_id: Integer })
const Clave = withDescription(v.string(), '50 digits')

const RateCheckOut = v.pipe(
  v.union([
    v.object({
      published: withDescription(DecimalText, 'Venta of the date of the invoice, as /api/v1/convert has it'),
      rate_date: Day,
      via: v.exactOptional(withDescription(v.string(), 'Currency that it was computed through')),
      difference: withDescription(DecimalText, 'exchange_rate minus published'),
      percent: withDescription(DecimalText, 'The difference in percent of published, to 4 decimals'),
      matches: withDescription(
        v.nullable(v.picklist(['venta', 'compra', 'previous_venta'])),
        'The published value that exchange_rate is, also rounded; null: none of these',
      ),
      rounded_to: Rounding,
    }),
    v.object({
      published: v.null(),
      reason: withDescription(v.string(), 'Why there is no published value'),
    }),
  ]),
  v.title('RateCheck'),
  v.description('Comparison with the rates as they are now; of currencies other than CRC'),
)

/** An invoice as a blob has it, or what is known of a file that belongs to one. */
export const InvoiceOut = v.pipe(
  v.union([
    v.object({
      kind: withDescription(v.string(), 'Root element, such as FacturaElectronica'),
      version: withDescription(Text, '4.2, 4.3 or 4.4; null without a namespace'),
      from: v.literal('content'),
      clave: Clave,
      consecutive: Text,
      issued_at: withDescription(Text, 'FechaEmision, to the letter'),
      date: withDescription(Text, 'Its day in Costa Rica'),
      issuer: PartyOut,
      receiver: PartyOut,
      currency: Text,
      exchange_rate: Text,
      total: Text,
      tax: Text,
      references: v.exactOptional(v.array(v.object({ type: Text, number: Text, code: Text }))),
      outcome: v.exactOptional(v.picklist(['accepted', 'partly_accepted', 'rejected'])),
      direction: v.exactOptional(
        withDescription(
          v.picklist(['issued', 'received', 'other']),
          'Side of the company, by its tax ids; absent: it has none',
        ),
      ),
      hacienda: v.exactOptional(
        withDescription(
          AnswerOut,
          'Outcome by the received message; its signature is not verified. The newest answer with the issuer, ' +
            'total and tax of the invoice, but a rejection before others',
        ),
      ),
      hacienda_others: v.exactOptional(
        withDescription(v.array(AnswerOut), 'Other such answers, at most 10, newest first'),
      ),
      duplicate_of: v.exactOptional(
        withDescription(Integer, 'First document of the same company, kind and clave'),
      ),
      same_content: v.exactOptional(withDescription(v.boolean(), 'False: its bytes differ from the first')),
      rate_check: v.exactOptional(RateCheckOut),
      warnings: v.exactOptional(
        withDescription(
          v.array(v.string()),
          'hacienda_mismatch: an answer that fits no invoice of its clave. clave_twice: another document of this ' +
            'clave has other bytes. The others are of the content',
        ),
      ),
    }),
    v.object({
      kind: withDescription(v.string(), 'Root element; empty: only its namespace is of an invoice'),
      fault: withDescription(v.string(), 'Why its facts are not read'),
    }),
    v.object({
      clave: Clave,
      from: withDescription(v.picklist(['name', 'mail']), 'Where the clave of this file was found'),
    }),
  ]),
  v.title('Invoice'),
  v.description('Facts of a Costa Rican electronic invoice; absent: none'),
)

/** The mail that brought a document. */
export const MailOut = v.pipe(
  v.object({
    mailbox_id: Integer,
    from: withDescription(Text, 'Text of a stranger, which anybody can forge; null: none'),
    subject: withDescription(Text, 'Text of a stranger'),
    received_at: Instant,
    message_id: Text,
    note: v.exactOptional(withDescription(v.string(), 'Why a mail or an archive within it was not opened')),
  }),
  v.title('Mail'),
  v.description('The mail that brought the document; absent: it was uploaded'),
)

const document = {
  id: Integer,
  name: v.string(),
  mimetype: v.string(),
  size: Integer,
  sha256: v.string(),
  created_at: Instant,
  attachment_id: Integer,
  agent_id: Integer,
  owner_id: Integer,
  company_id: Integer,
  created_by: withDescription(
    v.nullable(v.string()),
    'Name of the token that made it, or mail: and that of a mailbox; null: unknown',
  ),
  state: withDescription(DocumentStateOut, 'new until a worker claims it'),
  attempts: withDescription(Integer, 'How often it was claimed'),
  finished_at: v.nullable(Instant),
  note: withDescription(v.nullable(v.string()), 'What its worker said of the outcome'),
  priority: v.exactOptional(withDescription(Integer, 'From 1 to 9, claimed before lower ones; absent: 0')),
  content: v.exactOptional(withDescription(v.literal('lost'), 'Its bytes are lost; else absent')),
} satisfies Record<keyof DocumentRow, v.GenericSchema>

/** A row of a list. */
export const ListedDocumentOut = titledObject('ListedDocument', {
  ...document,
  invoice: v.exactOptional(InvoiceOut),
  mail: v.exactOptional(MailOut),
  lease_until: v.exactOptional(withDescription(Instant, 'End of the lease, while it is claimed')),
})

export const DocumentOut = titledObject('Document', document)

export const ResultOut = v.pipe(
  v.any(),
  v.title('Result'),
  v.description('JSON that the last worker returned, to the letter'),
)

/** A document with its result. */
export const WholeDocumentOut = titledObject('WholeDocument', {
  ...document,
  invoice: v.exactOptional(InvoiceOut),
  mail: v.exactOptional(MailOut),
  result: v.exactOptional(ResultOut),
})
