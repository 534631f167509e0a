// A document as clients see it.

import * as v from 'valibot'
import type { DocumentRow } from '../../store/documents/documents.ts'
import { Day, DecimalText, Instant, Integer, Rounding } from '../endpoint/answers/shapes.ts'

export const DocumentStateOut = v.picklist(['new', 'claimed', 'done', 'failed'])

const PartyOut = v.nullable(
  v.object({
    type: v.pipe(
      v.nullable(v.string()),
      v.description('Two digits of the law: 01 física, 02 jurídica, 03 DIMEX, 04 NITE'),
    ),
    id: v.pipe(v.nullable(v.string()), v.description('Without leading zeros')),
    name: v.pipe(v.nullable(v.string()), v.description('Text of a stranger')),
  }),
)
const Text = v.nullable(v.string())
const AnswerOut = v.object({ outcome: v.string(), document_id: Integer })
const Clave = v.pipe(v.string(), v.description('50 digits'))

const RateCheckOut = v.pipe(
  v.union([
    v.object({
      published: v.pipe(
        DecimalText,
        v.description('Venta of the date of the invoice, as /api/v1/convert has it'),
      ),
      rate_date: Day,
      via: v.exactOptional(v.pipe(v.string(), v.description('Currency that it was computed through'))),
      difference: v.pipe(DecimalText, v.description('exchange_rate minus published')),
      percent: v.pipe(DecimalText, v.description('The difference in percent of published, to 4 decimals')),
      matches: v.pipe(
        v.nullable(v.picklist(['venta', 'compra', 'previous_venta'])),
        v.description('The published value that exchange_rate is, also rounded; null: none of these'),
      ),
      rounded_to: Rounding,
    }),
    v.object({
      published: v.null(),
      reason: v.pipe(v.string(), v.description('Why there is no published value')),
    }),
  ]),
  v.title('RateCheck'),
  v.description('Comparison with the rates as they are now; of currencies other than CRC'),
)

/** An invoice as a blob has it, or what is known of a file that belongs to one. */
export const InvoiceOut = v.pipe(
  v.union([
    v.object({
      kind: v.pipe(v.string(), v.description('Root element, such as FacturaElectronica')),
      version: v.pipe(Text, v.description('4.2, 4.3 or 4.4; null without a namespace')),
      from: v.literal('content'),
      clave: Clave,
      consecutive: Text,
      issued_at: v.pipe(Text, v.description('FechaEmision, to the letter')),
      date: v.pipe(Text, v.description('Its day in Costa Rica')),
      issuer: PartyOut,
      receiver: PartyOut,
      currency: Text,
      exchange_rate: Text,
      total: Text,
      tax: Text,
      references: v.exactOptional(v.array(v.object({ type: Text, number: Text, code: Text }))),
      outcome: v.exactOptional(v.picklist(['accepted', 'partly_accepted', 'rejected'])),
      direction: v.exactOptional(
        v.pipe(
          v.picklist(['issued', 'received', 'other']),
          v.description('Side of the company, by its tax ids; absent: it has none'),
        ),
      ),
      hacienda: v.exactOptional(
        v.pipe(
          AnswerOut,
          v.description(
            'Outcome by the received message; its signature is not verified. The newest answer with the issuer, ' +
              'total and tax of the invoice, but a rejection before others',
          ),
        ),
      ),
      hacienda_others: v.exactOptional(
        v.pipe(v.array(AnswerOut), v.description('Other such answers, at most 10, newest first')),
      ),
      duplicate_of: v.exactOptional(
        v.pipe(Integer, v.description('First document of the same company, kind and clave')),
      ),
      same_content: v.exactOptional(
        v.pipe(v.boolean(), v.description('False: its bytes differ from the first')),
      ),
      rate_check: v.exactOptional(RateCheckOut),
      warnings: v.exactOptional(
        v.pipe(
          v.array(v.string()),
          v.description(
            'hacienda_mismatch: an answer that fits no invoice of its clave. clave_twice: another document of this ' +
              'clave has other bytes. The others are of the content',
          ),
        ),
      ),
    }),
    v.object({
      kind: v.string(),
      fault: v.pipe(v.string(), v.description('Why its facts are not read')),
    }),
    v.object({
      clave: Clave,
      from: v.pipe(v.picklist(['name', 'mail']), v.description('Where the clave of this file was found')),
    }),
  ]),
  v.title('Invoice'),
  v.description('Facts of a Costa Rican electronic invoice; absent: none'),
)

/** The mail that brought a document. */
export const MailOut = v.pipe(
  v.object({
    mailbox_id: Integer,
    from: v.pipe(Text, v.description('Text of a stranger, which anybody can forge; null: none')),
    subject: v.pipe(Text, v.description('Text of a stranger')),
    received_at: Instant,
    message_id: Text,
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
  created_by: v.pipe(
    v.nullable(v.string()),
    v.description('Name of the token that made it, or mail: and that of a mailbox; null: unknown'),
  ),
  state: v.pipe(DocumentStateOut, v.description('new until a worker claims it')),
  attempts: v.pipe(Integer, v.description('How often it was claimed')),
  finished_at: v.nullable(Instant),
  note: v.pipe(v.nullable(v.string()), v.description('What its worker said of the outcome')),
  priority: v.exactOptional(
    v.pipe(Integer, v.description('From 1 to 9, claimed before lower ones; absent: 0')),
  ),
  content: v.exactOptional(v.pipe(v.literal('lost'), v.description('Its bytes are lost; else absent'))),
} satisfies Record<keyof DocumentRow, v.GenericSchema>

/** A row of a list. */
export const ListedDocumentOut = v.pipe(
  v.object({
    ...document,
    invoice: v.exactOptional(InvoiceOut),
    mail: v.exactOptional(MailOut),
    lease_until: v.exactOptional(v.pipe(Instant, v.description('End of the lease, while it is claimed'))),
  }),
  v.title('ListedDocument'),
)

export const DocumentOut = v.pipe(v.object(document), v.title('Document'))

export const ResultOut = v.pipe(
  v.any(),
  v.title('Result'),
  v.description('JSON that the last worker returned, to the letter'),
)

/** A document with its result. */
export const WholeDocumentOut = v.pipe(
  v.object({
    ...document,
    invoice: v.exactOptional(InvoiceOut),
    mail: v.exactOptional(MailOut),
    result: v.exactOptional(ResultOut),
  }),
  v.title('WholeDocument'),
)
