// Kinds of Costa Rican electronic invoices, with the elements that are read of each. Names are those of the schemas 4.2 to
// 4.4 of the Ministerio de Hacienda.

export type InvoiceKind =
  | 'FacturaElectronica'
  | 'NotaDebitoElectronica'
  | 'NotaCreditoElectronica'
  | 'TiqueteElectronico'
  | 'FacturaElectronicaCompra'
  | 'FacturaElectronicaExportacion'
  | 'ReciboElectronicoPago'
  | 'MensajeHacienda'
  | 'MensajeReceptor'

/** `fault` is a sentence that repeats nothing of the content. */
export type UnreadableInvoice = { kind: InvoiceKind | null; fault: string }

/** Value of an invoice, as it is written. Values of a reference occur once in each. */
export type InvoiceField =
  | 'clave'
  | 'consecutive'
  | 'issuedAt'
  | 'issuerType'
  | 'issuerId'
  | 'issuerName'
  | 'receiverType'
  | 'receiverId'
  | 'receiverForeignId'
  | 'receiverName'
  | 'currency'
  | 'exchangeRate'
  | 'total'
  | 'tax'
  | 'message'
  | 'referenceType'
  | 'referenceNumber'
  | 'referenceCode'

/** An element that is read: a value, or a block of others. Names of children are in lower case. */
export type ElementRule = {
  /** As the schema writes it. */
  name: string
  field?: InvoiceField
  children: Map<string, ElementRule>
}

type FieldPaths = Record<string, InvoiceField>

/** May occur several times; every other element once. */
export const REFERENCE = 'InformacionReferencia'

const INVOICE_PATHS: FieldPaths = {
  Clave: 'clave',
  NumeroConsecutivo: 'consecutive',
  FechaEmision: 'issuedAt',
  'Emisor/Nombre': 'issuerName',
  'Emisor/Identificacion/Tipo': 'issuerType',
  'Emisor/Identificacion/Numero': 'issuerId',
  'Receptor/Nombre': 'receiverName',
  'Receptor/Identificacion/Tipo': 'receiverType',
  'Receptor/Identificacion/Numero': 'receiverId',
  'Receptor/IdentificacionExtranjero': 'receiverForeignId', // 4.3, beside an Identificacion or instead of it
  'ResumenFactura/CodigoTipoMoneda/CodigoMoneda': 'currency',
  'ResumenFactura/CodigoTipoMoneda/TipoCambio': 'exchangeRate',
  'ResumenFactura/CodigoMoneda': 'currency', // 4.2
  'ResumenFactura/TipoCambio': 'exchangeRate', // 4.2
  'ResumenFactura/TotalImpuesto': 'tax',
  'ResumenFactura/TotalComprobante': 'total',
  [`${REFERENCE}/TipoDoc`]: 'referenceType',
  [`${REFERENCE}/TipoDocIR`]: 'referenceType', // 4.4
  [`${REFERENCE}/Numero`]: 'referenceNumber',
  [`${REFERENCE}/Codigo`]: 'referenceCode',
}

const MESSAGE_PATHS: FieldPaths = {
  Clave: 'clave',
  NombreEmisor: 'issuerName',
  TipoIdentificacionEmisor: 'issuerType',
  NumeroCedulaEmisor: 'issuerId',
  NombreReceptor: 'receiverName',
  TipoIdentificacionReceptor: 'receiverType',
  NumeroCedulaReceptor: 'receiverId',
  NumeroConsecutivoReceptor: 'consecutive',
  Mensaje: 'message',
  MontoTotalImpuesto: 'tax',
  TotalFactura: 'total',
}

const INVOICE = createRules(INVOICE_PATHS)
const MESSAGE = createRules(MESSAGE_PATHS)

/** Type of a kind in its consecutive and clave, null for a message; and its elements. */
export const KINDS: Record<InvoiceKind, { type: string | null; elements: ElementRule }> = {
  FacturaElectronica: { type: '01', elements: INVOICE },
  NotaDebitoElectronica: { type: '02', elements: INVOICE },
  NotaCreditoElectronica: { type: '03', elements: INVOICE },
  TiqueteElectronico: { type: '04', elements: INVOICE },
  FacturaElectronicaCompra: { type: '08', elements: INVOICE },
  FacturaElectronicaExportacion: { type: '09', elements: INVOICE },
  ReciboElectronicoPago: { type: '10', elements: INVOICE },
  MensajeHacienda: { type: null, elements: MESSAGE },
  MensajeReceptor: { type: null, elements: MESSAGE },
}

const KINDS_BY_NAME = new Map(
  (Object.keys(KINDS) as InvoiceKind[]).map((kind) => [kind.toLowerCase(), kind] as const),
)

const NAMESPACE =
  /^https:\/\/(?:cdn\.comprobanteselectronicos\.go\.cr\/xml-schemas\/v(4\.[34])|tribunet\.hacienda\.go\.cr\/docs\/esquemas\/2017\/v(4\.2))\/(\w+)$/

/** Returns the kind of a root element without its prefix, in any case. */
export function findKind(name: string): InvoiceKind | undefined {
  return KINDS_BY_NAME.get(name.toLowerCase())
}

/** Returns kind and version of a namespace; undefined: of another one. */
export function parseNamespace(namespace: string): { kind: InvoiceKind; version: string } | undefined {
  const [, current, earlier, name = ''] = NAMESPACE.exec(namespace) ?? []
  const kind = findKind(name)
  return kind && { kind, version: current ?? earlier ?? '' }
}

function createRules(paths: FieldPaths): ElementRule {
  const root: ElementRule = { name: '', children: new Map() }
  for (const [path, field] of Object.entries(paths)) {
    let rule = root
    for (const name of path.split('/')) {
      const key = name.toLowerCase()
      const child: ElementRule = rule.children.get(key) ?? { name, children: new Map() }
      rule.children.set(key, child)
      rule = child
    }
    rule.field = field
  }
  return root
}
