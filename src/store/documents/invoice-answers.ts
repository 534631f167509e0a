// Answers of Hacienda and invoices of the same claves. A stranger may send thousands for one clave. A query reads the
// rows of its claves once, and returns a limited number of each.

import type { ReadDb } from '../tables.ts'
import { selectClaveBlobs } from './invoice-copies.ts'
import type { StoredInvoice } from './invoices.ts'

/** Kind of an answer of Hacienda. */
export const ANSWER = 'MensajeHacienda'
/** Kinds that are no invoices. */
export const ANSWERS: readonly string[] = [ANSWER, 'MensajeReceptor']

const FACTS = ['company_id', 'clave', 'kind', 'issuer_id', 'receiver_id', 'total', 'tax', 'outcome'] as const
const COLUMNS = FACTS.map((name) => `invoices.${name}` as const)

/** Facts by which an answer and an invoice belong together. */
export type AnswerFacts = Pick<StoredInvoice, (typeof FACTS)[number]>

export type HaciendaAnswer = AnswerFacts & { document_id: number; sha256: string }

/** Selects answers with a clave, issuer, total and tax of these invoices: of equal facts the newest `most`. */
export async function selectAnswers(
  db: ReadDb,
  invoices: readonly AnswerFacts[],
  agentId: number | undefined,
  most: number,
): Promise<HaciendaAnswer[]> {
  const answers: HaciendaAnswer[] = []
  for (const [companyId, own] of Map.groupBy(invoices, ({ company_id }) => company_id)) {
    const ids = listParties(own)
    if (ids.length === 0) continue
    const ranked = selectClaveBlobs(db, companyId, own, agentId)
      .where('invoices.kind', '=', ANSWER)
      .where('invoices.outcome', 'is not', null)
      .where('invoices.issuer_id', 'in', ids)
      .where((of) =>
        of.and(
          (['total', 'tax'] as const).map((name) => {
            const values = own.map((invoice) => invoice[name] ?? '0')
            return of.or([of(`invoices.${name}`, 'is', null), of(`invoices.${name}`, 'in', values)])
          }),
        ),
      )
      .select([...COLUMNS, 'invoices.document_id'])
      .select((of) =>
        of.fn
          .agg<number>('row_number')
          .over((over) =>
            over
              .partitionBy(['invoices.clave', 'invoices.issuer_id', 'invoices.total', 'invoices.tax'])
              .partitionBy('invoices.outcome')
              .orderBy('invoices.document_id', 'desc'),
          )
          .as('rank'),
      )
    const rows = await db
      .selectFrom(ranked.as('answers'))
      .innerJoin('documents', 'documents.id', 'answers.document_id')
      .innerJoin('attachments', 'attachments.id', 'documents.attachment_id')
      .selectAll('answers')
      .select('attachments.sha256')
      .where('answers.rank', '<=', most)
      .execute()
    answers.push(...rows)
  }
  return answers
}

/** Selects the different facts of the first `most` invoices with a clave and a party of these answers. */
export async function selectAnsweredFacts(
  db: ReadDb,
  answers: readonly AnswerFacts[],
  agentId: number | undefined,
  most: number,
): Promise<AnswerFacts[]> {
  const facts: AnswerFacts[] = []
  for (const [companyId, own] of Map.groupBy(answers, ({ company_id }) => company_id)) {
    const ids = listParties(own)
    if (ids.length === 0) continue
    const ranked = selectClaveBlobs(db, companyId, own, agentId)
      .where('invoices.kind', 'not in', ANSWERS)
      .where((of) => of.or([of('invoices.issuer_id', 'in', ids), of('invoices.receiver_id', 'in', ids)]))
      .select(COLUMNS)
      .select((of) =>
        of.fn
          .agg<number>('row_number')
          .over((over) => over.partitionBy('invoices.clave').orderBy('invoices.document_id'))
          .as('rank'),
      )
    const rows = db.selectFrom(ranked.as('answered')).select(FACTS).distinct().where('rank', '<=', most)
    facts.push(...(await rows.execute()))
  }
  return facts
}

function listParties(rows: readonly AnswerFacts[]): string[] {
  return [...new Set(rows.flatMap(({ issuer_id, receiver_id }) => [issuer_id, receiver_id]))].filter(
    (id) => id !== null,
  )
}
