// Answers of Hacienda to invoices. No signature is verified, so anybody can write one. An answer counts only if its
// issuer, total and tax are the invoice's.

import {
  ANSWER,
  ANSWERS,
  type AnswerFacts,
  type HaciendaAnswer,
  selectAnsweredFacts,
  selectAnswers,
} from '../../store/documents/invoice-answers.ts'
import type { CopyGroup } from '../../store/documents/invoice-copies.ts'
import type { StoredInvoice } from '../../store/documents/invoices.ts'
import type { ReadDb } from '../../store/tables.ts'

export type AnswerView = { outcome: string; document_id: number }

/** A rejection, or else the newest answer; and the others with other bytes, newest first. */
export type AnswersView = { hacienda?: AnswerView; hacienda_others?: AnswerView[] }

/** The answers of invoices, and the answers that fit no invoice of their clave; both by document. */
export type HaciendaFindings = { answers: Map<number, AnswersView>; mismatches: Set<number> }

/** The buyer issues it, so an answer may have either party. */
const OF_BUYER = 'FacturaElectronicaCompra'
const MOST_OTHERS = 10 // a stranger can send thousands
const MOST_INVOICES = 1000

/** Finds answers and mismatches. `groups`: of all claves of the invoices, as the client sees them. */
export async function findHacienda(
  db: ReadDb,
  invoices: readonly StoredInvoice[],
  groups: readonly CopyGroup[],
  agentId: number | undefined,
): Promise<HaciendaFindings> {
  const answeredKeys = new Set(groups.flatMap((one) => (one.kind === ANSWER ? claveKey(one) : [])))
  const invoiceKeys = new Set(groups.flatMap((one) => (isAnswer(one) ? [] : claveKey(one))))
  const answered = invoices.filter((one) => !isAnswer(one) && answeredKeys.has(claveKey(one)))
  const answers = invoices.filter((one) => one.kind === ANSWER && invoiceKeys.has(claveKey(one)))
  const ofClaves = Map.groupBy(await selectAnswers(db, answered, agentId, MOST_OTHERS + 1), claveKey)
  const facts = Map.groupBy(await selectAnsweredFacts(db, answers, agentId, MOST_INVOICES), claveKey)
  return {
    answers: new Map(
      answered.map((invoice) => {
        const own = ofClaves.get(claveKey(invoice))?.filter((answer) => isOfInvoice(answer, invoice))
        return [invoice.document_id, arrangeAnswers(own ?? [])]
      }),
    ),
    mismatches: new Set(
      answers
        .filter((answer) => !facts.get(claveKey(answer))?.some((invoice) => isOfInvoice(answer, invoice)))
        .map(({ document_id }) => document_id),
    ),
  }
}

/** Compares canonical decimals. An absent amount of the answer fits; that of an invoice counts as 0. */
function isOfInvoice(answer: AnswerFacts, invoice: AnswerFacts): boolean {
  const { issuer_id: id, total, tax } = answer
  const isParty = id === invoice.issuer_id || (invoice.kind === OF_BUYER && id === invoice.receiver_id)
  const isAmount = (own: string | null, other: string | null) => own === null || own === (other ?? '0')
  return id !== null && isParty && isAmount(total, invoice.total) && isAmount(tax, invoice.tax)
}

function arrangeAnswers(answers: readonly HaciendaAnswer[]): AnswersView {
  const newest = answers.toSorted((one, other) => other.document_id - one.document_id)
  const bySha256 = Map.groupBy(newest, ({ sha256 }) => sha256)
  const views = [...bySha256.values()].flatMap(([first]) =>
    first?.outcome ? { outcome: first.outcome, document_id: first.document_id } : [],
  )
  const main = views.find(({ outcome }) => outcome === 'rejected') ?? views[0]
  const others = views.filter((view) => view !== main).slice(0, MOST_OTHERS)
  return { ...(main && { hacienda: main }), ...(others.length > 0 && { hacienda_others: others }) }
}

function isAnswer({ kind }: Pick<StoredInvoice, 'kind'>): boolean {
  return ANSWERS.includes(kind ?? '')
}

function claveKey({ company_id, clave }: Pick<StoredInvoice, 'company_id' | 'clave'>): string {
  return `${company_id} ${clave}`
}
