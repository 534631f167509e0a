// Texts of the exchange rate certificate, loaded with it.

import { textTable } from './table-texts.ts'

export const CERTIFICATE = textTable({
  title: ['Constancia de tipo de cambio', 'Exchange rate certificate'],
  back: ['Volver a la consulta', 'Back to the rates'],
  print: ['Imprimir o guardar como PDF', 'Print or save as PDF'],
  copyLink: ['Copiar enlace', 'Copy link'],
  loading: ['Se está preparando la constancia…', 'Preparing the certificate…'],
  kind: ['Constancia', 'Certificate'],
  taxId: (id: string) => [`Cédula jurídica ${id}`, `Tax ID ${id}`],
  product: ['Tipos de cambio del BCCR', 'Exchange rates of the BCCR'],
  according: [
    'Según el tipo de cambio de referencia publicado por el Banco Central de Costa Rica (BCCR)',
    'By the reference exchange rate that the Central Bank of Costa Rica (BCCR) publishes',
  ],
  amount: ['Monto', 'Amount'],
  equals: ['es igual a', 'equals'],
  atDay: (day: string) => [`Al ${day.charAt(0).toLowerCase()}${day.slice(1)}`, `On ${day}`],
  numericDay: (day: string) => [`al ${day}`, `on ${day}`],

  source: ['De dónde sale', 'Where it comes from'],
  value: ['Valor publicado', 'Published value'],
  series: ['Fuente en el BCCR', 'Source at the BCCR'],
  published: ['Publicado para el', 'Published for'],
  figure: ['Valor', 'Value'],
  operation: ['Operación', 'Operation'],
  indicator: (code: string) => [`Indicador ${code}`, `Indicator ${code}`],
  multiplies: ['multiplica', 'multiplies'],
  divides: ['divide', 'divides'],
  noLegs: ['Ambos montos son de la misma moneda.', 'Both amounts are of the same currency.'],
  older: (wanted: string, pair: string, isWeekend: boolean, day: string) => [
    `El ${wanted} no hay publicación ${pair}${isWeekend ? ' (fin de semana)' : ''}: se usa la del ${day}, la última.`,
    `${pair} was not published on ${wanted}${isWeekend ? ' (weekend)' : ''}: the last one, of ${day}, is used.`,
  ],
  rounded: (pair: string, places: number) => [
    `${pair}: redondeado por la fuente a ${places} decimales.`,
    `${pair}: rounded by the source to ${places} decimals.`,
  ],

  calculation: ['Cálculo', 'Calculation'],
  unrounded: ['Sin redondear', 'Unrounded'],
  roundedResult: ['Redondeado', 'Rounded'],
  twoPlaces: ['2 decimales, redondeo comercial', '2 decimals, commercial rounding'],
  sixDigits: ['6 cifras significativas, redondeo comercial', '6 significant digits, commercial rounding'],
  dataAsOf: ['Datos al', 'Data as of'],
  costaRica: (time: string) => [`${time}, hora de Costa Rica`, `${time}, Costa Rica time`],
  issued: ['Emitida', 'Issued'],
  issuedBy: ['Emitida por', 'Issued by'],
  verified: ['Comprobada', 'Verified'],
  verifiedBy: ['Comprobada por', 'Verified by'],
  personAt: (person: string, day: string, time: string) => [
    `${person === '' ? 'el' : `${person}, el`} ${day} a las ${time}`,
    `${person === '' ? 'on' : `${person}, on`} ${day} at ${time}`,
  ],

  howToVerify: ['Cómo verificarla', 'How to verify it'],
  byLink: [
    'Lea el código o abra su enlace: el servidor repite el cálculo con los datos que tenía a esa hora. Dice si coincide, y si el BCCR corrigió después algún valor.',
    'Scan the code or open its link: the server repeats the calculation with the data that it had at that time. It shows whether it matches, and whether the BCCR corrected a value later.',
  ],
  byCommand: [
    'Sin abrir la página: el comando «cambista statement verify», con el enlace, da la misma huella.',
    'Without opening the page: the command “cambista statement verify” gives the same digest for the link.',
  ],
  byHand: (indicators: string) => [
    `Compare los valores con ${indicators} en el sitio del BCCR.`,
    `Compare the values with ${indicators} on the website of the BCCR.`,
  ],
  indicators: (codes: readonly string[]) => [
    codes.length === 1 ? `el indicador ${codes[0]}` : `los indicadores ${joinList(codes, 'y')}`,
    codes.length === 1 ? `indicator ${codes[0]}` : `indicators ${joinList(codes, 'and')}`,
  ],
  code: ['Código QR con el enlace para verificar', 'QR code with the link to verify'],
  digest: ['Huella SHA-256', 'SHA-256 digest'],
  closing: [
    'Emitida con datos del BCCR; no es un documento del BCCR ni lleva firma digital.',
    'Issued with data of the BCCR; it is no document of the BCCR and has no digital signature.',
  ],
  onePage: ['Página 1 de 1', 'Page 1 of 1'],
  statement: ['Texto de la constancia', 'Text of the certificate'],
  statementHint: [
    'La huella es el SHA-256 de estas líneas, cada una con su fin de línea (LF).',
    'The digest is the SHA-256 of these lines, each with its line end (LF).',
  ],
  copyStatement: ['Copiar el texto', 'Copy the text'],

  verdict: ['Resultado de la verificación', 'Result of the verification'],
  matches: [
    'Coincide: este servidor da hoy la misma respuesta.',
    'Matches: this server gives the same answer today.',
  ],
  differs: [
    'No coincide: la huella del enlace no es la de la respuesta de este servidor.',
    'Does not match: the digest of the link is not that of this server’s answer.',
  ],
  differsHint: [
    'Compare cada línea con el papel: una cifra, una fecha o la huella del enlace no es la original.',
    'Compare each line with the paper: a figure, a date or the digest of the link is not the original one.',
  ],
  linkDigest: ['Huella del enlace', 'Digest of the link'],
  ownDigest: ['Huella de esta respuesta', 'Digest of this answer'],
  before: (from: string) => [
    `El registro de este servidor comienza el ${from}.`,
    `The record of this server begins on ${from}.`,
  ],
  beforeHint: [
    'La constancia es de antes: no se puede comprobar aquí.',
    'The certificate is older: it cannot be verified here.',
  ],
  gap: (from: string, to: string) => [
    `Este servidor no puede comprobarla: entre ${from} y ${to} su registro tiene un vacío.`,
    `This server cannot verify it: its record has a gap between ${from} and ${to}.`,
  ],
  /** Reasons by the kind of the change. */
  changes: {
    correction: (values: readonly string[]) => [
      `El BCCR corrigió después ${joinList(values, 'y')}.`,
      `The BCCR corrected ${joinList(values, 'and')} later.`,
    ],
    refined: (values: readonly string[]) => [
      `Este servidor tiene ahora más decimales de ${joinList(values, 'y')}.`,
      `This server now has more decimals of ${joinList(values, 'and')}.`,
    ],
    new: (values: readonly string[]) => [
      `Este servidor recibió después ${joinList(values, 'y')}.`,
      `This server received ${joinList(values, 'and')} later.`,
    ],
    discarded: (values: readonly string[]) => [
      `Este servidor descartó después ${joinList(values, 'y')}.`,
      `This server discarded ${joinList(values, 'and')} later.`,
    ],
  },
  noAnswerNow: ['Hoy este servidor no da una respuesta.', 'Today this server has no answer.'],
  changedNow: (result: string) => [
    `Hoy el resultado sería ${result}.`,
    `Today the result would be ${result}.`,
  ],
  valueOfDay: (value: string, day: string) => [`${value} del ${day}`, `${value} of ${day}`],
  change: (value: string, was: string, is: string, at: string) => [
    `${value}: de ${was} a ${is}${at === '' ? '' : ` (el ${at})`}`,
    `${value}: from ${was} to ${is}${at === '' ? '' : ` (on ${at})`}`,
  ],
  noValue: ['sin valor', 'no value'],
  joinResults: (results: readonly string[]) => [joinList(results, 'y'), joinList(results, 'and')],

  damaged: ['Este enlace no es de una constancia', 'This link is not of a certificate'],
  damagedText: [
    'Está incompleto o cambió al copiarlo. Lea otra vez el código QR, o copie el enlace entero.',
    'It is incomplete, or was changed when it was copied. Scan the QR code again, or copy the whole link.',
  ],
  none: [
    'No hay tipo de cambio para estas monedas en esta fecha',
    'There is no rate for these currencies on this date',
  ],
  tooLate: (day: string) => [
    `Todavía no hay tipo de cambio para el ${day}`,
    `There is no exchange rate for ${day} yet`,
  ],
  tooLateText: [
    'Una constancia se emite a lo sumo para mañana. Revise la fecha del enlace.',
    'A certificate is issued for tomorrow at the latest. Check the date of the link.',
  ],
})

function joinList(parts: readonly string[], word: string): string {
  const last = parts.at(-1) ?? ''
  return parts.length > 1 ? `${parts.slice(0, -1).join(', ')} ${word} ${last}` : last
}
