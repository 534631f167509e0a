// Rows as the old web service wrote them, byte by byte. Programs cut values out by position, and replace whole
// lines. The text is ASCII, since some programs read it so.

import { type IndicatorValues, padDecimals } from '../indicators.ts'

export const NAMESPACE = 'http://ws.sdde.bccr.fi.cr'
export const DECLARATION = '<?xml version="1.0" encoding="utf-8"?>'

const SET = 'Datos_de_INGC011_CAT_INDICADORECONOMIC'
const ROW = 'INGC011_CAT_INDICADORECONOMIC'
const END_OF_LINE = '\r\n'
const XSI = 'http://www.w3.org/2001/XMLSchema-instance'
const MSDATA = 'xmlns:msdata="urn:schemas-microsoft-com:xml-msdata"'
const DIFFGR = 'xmlns:diffgr="urn:schemas-microsoft-com:xml-diffgram-v1"'
const DECIMALS = 8

const SCHEMA = [
  `<xs:schema id="${SET}" xmlns="" xmlns:xs="http://www.w3.org/2001/XMLSchema" ${MSDATA}>`,
  `<xs:element name="${SET}" msdata:IsDataSet="true" msdata:UseCurrentLocale="true"><xs:complexType>`,
  '<xs:choice minOccurs="0" maxOccurs="unbounded">',
  `<xs:element name="${ROW}"><xs:complexType><xs:sequence>`,
  '<xs:element name="COD_INDICADORINTERNO" type="xs:string" minOccurs="0" />',
  '<xs:element name="DES_FECHA" type="xs:dateTime" minOccurs="0" />',
  '<xs:element name="NUM_VALOR" type="xs:decimal" minOccurs="0" />',
  '</xs:sequence></xs:complexType></xs:element>',
  '</xs:choice></xs:complexType></xs:element></xs:schema>',
].join('')

/** Encodes the answer of the text operation: XML, escaped once. Undefined: no rows. */
export function encodeText(values: IndicatorValues | undefined): string {
  if (!values || values.values.length === 0) return escapeText(`<${SET} />`)
  const lines = encodeRows(values).flatMap((columns) => [
    `  <${ROW}>`,
    ...columns.map((column) => `    ${column}`),
    `  </${ROW}>`,
  ])
  return escapeText([`<${SET}>`, ...lines, `</${SET}>`].join(END_OF_LINE))
}

/** Encodes the answer of the DataSet operation: schema and rows. */
export function encodeDataSet(values: IndicatorValues | undefined): string {
  const rows = values ? encodeRows(values) : []
  const elements = rows.map(
    (columns, at) =>
      `<${ROW} diffgr:id="${ROW}${at + 1}" msdata:rowOrder="${at}">${columns.join('')}</${ROW}>`,
  )
  const set = rows.length > 0 ? `<${SET} xmlns="">${elements.join('')}</${SET}>` : `<${SET} xmlns="" />`
  return `${SCHEMA}<diffgr:diffgram ${MSDATA} ${DIFFGR}>${set}</diffgr:diffgram>`
}

/** Encodes an answer without an envelope; undefined: empty, as for a wrong token. */
export function encodeDocument(hasRows: boolean, content: string | undefined): string {
  const element = hasRows ? 'DataSet' : 'string'
  const head = hasRows ? DECLARATION : `${DECLARATION}${END_OF_LINE}`
  return content === undefined
    ? `${head}<${element} xsi:nil="true" xmlns:xsi="${XSI}" xmlns="${NAMESPACE}" />`
    : `${head}<${element} xmlns="${NAMESPACE}">${content}</${element}>`
}

export function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

/** Encodes the columns of each row. */
function encodeRows({ series, values }: IndicatorValues): string[][] {
  const code = `<COD_INDICADORINTERNO>${escapeText(series.code)}</COD_INDICADORINTERNO>`
  const formatValue = series.isRate ? withEightDecimals : padDecimals
  return values.map(({ day, value }) => [
    code,
    `<DES_FECHA>${day}T00:00:00-06:00</DES_FECHA>`,
    `<NUM_VALOR>${formatValue(value)}</NUM_VALOR>`,
  ])
}

/** Returns a rate with exactly 8 decimals, rounded half up. The bank has never published more. */
export function withEightDecimals(value: string): string {
  const [whole = '', fraction = ''] = value.split('.')
  if (fraction.length <= DECIMALS) return padDecimals(value)
  const units = BigInt(whole + fraction.slice(0, DECIMALS)) + (fraction.charAt(DECIMALS) >= '5' ? 1n : 0n)
  const digits = String(units).padStart(DECIMALS + 1, '0')
  return `${digits.slice(0, -DECIMALS)}.${digits.slice(-DECIMALS)}`
}
