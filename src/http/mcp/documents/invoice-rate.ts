// Tool for the published rate of the day of an invoice.

import * as v from 'valibot'
import type { InvoiceView } from '../../../domain/invoices/invoice-view.ts'
import { type InvoiceRates, invoiceDayRate, type RateCheck } from '../../../domain/invoices/rate-check.ts'
import { AppError } from '../../../runtime/errors.ts'
import { tokenAccess } from '../../access/auth.ts'
import { Integer } from '../../endpoint/answers/shapes.ts'
import { idParam } from '../../endpoint/params.ts'
import { conversionOut } from '../../figures/conversion.ts'
import { requireToken, type Tool, tool } from '../protocol/tool.ts'
import { describeDay, earliestCoveredDay, withRounding } from '../rates/parameters.ts'
import type { DocumentQueries } from './document-queries.ts'

const Text = v.string()

export function invoiceRateTool(
  { find, findInvoice }: Pick<DocumentQueries, 'find' | 'findInvoice'>,
  rates: InvoiceRates,
): Tool {
  return tool({
    name: 'rate_for_document',
    needs: 'documents:GET',
    about:
      'Venta of the date of an invoice for its currency (colones: the dollar), with its legs; rate_check compares the ' +
      'rate of the invoice with it.',
    input: v.object({ document_id: idParam('Id in list_documents') }),
    output: v.looseObject({
      document_id: Integer,
      date: Text,
      rate: Text,
      rate_date: Text,
      rate_check: v.optional(v.looseObject({})),
    }),
    async run({ document_id }, caller) {
      const access = tokenAccess(requireToken(caller))
      const { date, currency, rateCheck } = toDated(
        document_id,
        await findInvoice(access, await find(access, document_id)),
      )
      const { from, to, conversion } = await invoiceDayRate(rates, { date, currency })
      const query = { provider: rates.provider.code, from, to, amount: '1', details: true }
      const value = {
        ...{ document_id, date, ...conversionOut(conversion, query) },
        ...(rateCheck && { rate_check: rateCheck }),
      }
      const rateText = withRounding(`1 ${from} is ${conversion.rate} ${to}`, conversion.roundedTo)
      const day = describeDay(conversion.rateDate, date, earliestCoveredDay(conversion))
      return {
        value,
        sentence: `${rateText}, ${conversion.rateType} of ${day}.${describeCheck(rateCheck)}`,
      }
    },
  })
}

/** @throws AppError `invalid` for a document that is no invoice with a date */
function toDated(
  id: number,
  invoice: InvoiceView | undefined,
): { date: string; currency: string | null; rateCheck: RateCheck | undefined } {
  if (invoice && 'date' in invoice && invoice.date !== null) {
    const { date, currency, rate_check: rateCheck } = invoice
    return { date, currency, rateCheck }
  }
  throw new AppError('not-found', `Document ${id} has no date: only an invoice that was read has one`, {
    reason: 'no_invoice',
  })
}

function describeCheck(check: RateCheck | undefined): string {
  if (!check || check.published === null) return ''
  const { matches, difference, percent } = check
  if (matches === 'venta') return ' The invoice has this rate.'
  const other = matches === null ? '' : `, and is the ${matches.replace('_', ' ')}`
  return ` The rate of the invoice differs by ${difference} (${percent} %)${other}.`
}
