// Answers of TipoCambioRango: `Vars/Var` with `moneda`, `fecha` (dd/mm/yyyy), `venta` and `compra`, then `TotalItems`.

import type { XmlElement } from '../../formats/xml.ts'
import { errorReason } from '../../runtime/errors.ts'
import { excerpt } from '../json.ts'
import { FetchFailure, type Observation, type SourceAnswer, type Window } from '../provider.ts'
import { noValue, readPublishedValues, readSlashDay } from '../published-value.ts'

const SOAP = 'http://schemas.xmlsoap.org/soap/envelope/'
const SERVICE = 'http://www.banguat.gob.gt/variables/ws/'
const DOLLAR = '2'
const SIDES = ['compra', 'venta'] as const

/** `unknown`: codes of other currencies, whose rows are dropped. */
type RangeAnswer = SourceAnswer & { unknown: Set<string> }

/**
 * Parses the answer, with both sides of the dollar of each day.
 * @throws FetchFailure for any other document, a fault, another number of rows than `TotalItems`, or a row of another day
 */
export async function readDollar(body: string, window: Window): Promise<RangeAnswer> {
  const root = await parseAnswer(body)
  const envelope = requireElement([root], SOAP, 'Envelope', 'the answer')
  const content = requireElement(envelope.children, SOAP, 'Body', 'the envelope')
  const fault = findElement(content.children, SOAP, 'Fault')
  if (fault) throw new FetchFailure(`the answer is a fault: ${faultText(fault)}`)
  const response = requireElement(content.children, SERVICE, 'TipoCambioRangoResponse', 'the body')
  const result = requireElement(response.children, SERVICE, 'TipoCambioRangoResult', 'the response')
  const rows = requireElement(result.children, SERVICE, 'Vars', 'the result').children
  const total = requireElement(result.children, SERVICE, 'TotalItems', 'the result').text.trim()
  if (rows.some(({ name }) => name !== 'Var'))
    throw new FetchFailure('"Vars" holds something that is not a Var')
  if (total !== String(rows.length))
    throw new FetchFailure(`"TotalItems" is ${excerpt(total, 20)}, but the answer has ${rows.length} rows`)
  const observations: Observation[] = []
  const unknown = new Set<string>()
  for (const row of rows) {
    const currency = childText(row, 'moneda')
    if (currency === DOLLAR) observations.push(...dollarSides(row, window))
    else unknown.add(excerpt(currency, 20))
  }
  if (rows.length > 0 && rows.every((row) => childText(row, 'moneda') !== DOLLAR))
    throw new FetchFailure('no row is of the dollar')
  const listed =
    observations.length > 0 ? SIDES.map((side) => ({ code: `${DOLLAR}.${side}`, name: side })) : []
  return { listed, observations: readPublishedValues(observations, 'plain'), unknown }
}

/** Returns the text of a SOAP fault in the body of an error, else the body unchanged. */
export function readFault(body: string): string {
  return /<faultstring[^>]*>([^<]*)</.exec(body)?.[1]?.trim() || body
}

async function parseAnswer(body: string): Promise<XmlElement> {
  const { parseXml } = await import('../../formats/xml.ts') // its package is not of a start
  try {
    return parseXml(body)
  } catch (error) {
    throw new FetchFailure(`the answer is not valid XML: ${errorReason(error)}`)
  }
}

function dollarSides(row: XmlElement, window: Window): Observation[] {
  const day = readSlashDay(childText(row, 'fecha'), window)
  return SIDES.flatMap((side) => {
    const value = childText(row, side)
    if (noValue(value)) return []
    return { code: `${DOLLAR}.${side}`, day, value, roundedTo: undefined }
  })
}

function childText(row: XmlElement, name: string): string {
  return requireElement(row.children, SERVICE, name, 'a row').text.trim()
}

function faultText(fault: XmlElement): string {
  const text = fault.children.find(({ name }) => name === 'faultstring')?.text.trim()
  return excerpt(text || 'without a text')
}

function findElement(elements: readonly XmlElement[], space: string, name: string): XmlElement | undefined {
  return elements.find((one) => one.name === name && one.namespace === space)
}

function requireElement(
  elements: readonly XmlElement[],
  space: string,
  name: string,
  parent: string,
): XmlElement {
  const element = findElement(elements, space, name)
  if (!element) throw new FetchFailure(`${parent} has no ${name}`)
  return element
}
