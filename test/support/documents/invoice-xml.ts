// Invented invoices in the form of the schemas 4.2 to 4.4. Their firms, ids and claves exist nowhere.

import type { InvoiceKind } from '../../../src/formats/invoices/kinds.ts'

export type SampleOptions = {
  kind?: InvoiceKind
  version?: '4.2' | '4.3' | '4.4' | null
  clave?: string
  issuerId?: string
  receiver?: string
  currency?: string
  rate?: string
  total?: string
  issuedAt?: string
  /** Instead of the whole element. */
  summary?: string
  /** Before the end of the root. */
  more?: string
}

export const CLAVE = '50624032600310112345600100001010000000043112345678'

const TYPES: Partial<Record<InvoiceKind, string>> = {
  FacturaElectronica: '01',
  NotaDebitoElectronica: '02',
  NotaCreditoElectronica: '03',
  TiqueteElectronico: '04',
  FacturaElectronicaCompra: '08',
  FacturaElectronicaExportacion: '09',
  ReciboElectronicoPago: '10',
}

/** Returns a clave of 24 March 2026 with the type of a kind. */
export function createClave(kind: InvoiceKind, number = 43, issuerId = '3101123456'): string {
  const consecutive = `00100001${TYPES[kind]}${String(number).padStart(10, '0')}`
  return `506240326${issuerId.padStart(12, '0')}${consecutive}112345678`
}

export function sampleNamespace(kind: string, version: string): string {
  const name = kind[0]?.toLowerCase() + kind.slice(1)
  return version === '4.2'
    ? `https://tribunet.hacienda.go.cr/docs/esquemas/2017/v4.2/${name}`
    : `https://cdn.comprobanteselectronicos.go.cr/xml-schemas/v${version}/${name}`
}

/** Returns an invoice; by default one in dollars of 1130. */
export function sampleInvoice(options: SampleOptions = {}): string {
  const { kind = 'FacturaElectronica', version = '4.4', currency = 'USD', rate = '509.25000' } = options
  const { issuerId = '3101123456', total = '1130.00000', issuedAt = '2026-03-24T09:30:00-06:00' } = options
  const clave = options.clave ?? createClave(kind, 43, issuerId)
  const receiver =
    options.receiver ??
    '<Receptor><Nombre>Acme S.A.</Nombre><Identificacion><Tipo>02</Tipo><Numero>3101654321</Numero></Identificacion></Receptor>'
  const money = `<CodigoMoneda>${currency}</CodigoMoneda><TipoCambio>${rate}</TipoCambio>`
  const summary =
    options.summary ??
    `<ResumenFactura>${version === '4.2' ? money : `<CodigoTipoMoneda>${money}</CodigoTipoMoneda>`}` +
      `<TotalImpuesto>130.00000</TotalImpuesto><TotalComprobante>${total}</TotalComprobante></ResumenFactura>`
  const namespace = version === null ? '' : ` xmlns="${sampleNamespace(kind, version)}"`
  return (
    `<?xml version="1.0" encoding="UTF-8"?>\n<${kind}${namespace} xmlns:ds="http://www.w3.org/2000/09/xmldsig#">\n` +
    `<Clave>${clave}</Clave><NumeroConsecutivo>${clave.slice(21, 41)}</NumeroConsecutivo>` +
    `<FechaEmision>${issuedAt}</FechaEmision>` +
    `<Emisor><Nombre>Ferretería El Roble &amp; Hijos S.A.</Nombre>` +
    `<Identificacion><Tipo>02</Tipo><Numero>${issuerId}</Numero></Identificacion></Emisor>${receiver}` +
    `<DetalleServicio><LineaDetalle><Detalle>Clave y TotalComprobante son palabras</Detalle></LineaDetalle></DetalleServicio>` +
    `${summary}${options.more ?? ''}<ds:Signature><ds:SignatureValue>c2ln</ds:SignatureValue></ds:Signature>\n</${kind}>\n`
  )
}

export type SampleMessageOptions = {
  kind?: 'MensajeHacienda' | 'MensajeReceptor'
  clave?: string
  message?: string
  issuerId?: string
  /** Null: without the element. */
  total?: string | null
  tax?: string | null
  /** Text of a stranger, which makes other bytes. */
  detail?: string
}

/** Returns an answer to an invoice; by default it is accepted. */
export function sampleMessage(options: SampleMessageOptions = {}): string {
  const { kind = 'MensajeHacienda', clave = CLAVE, message = '1', detail = 'Clave repetida' } = options
  const { issuerId = '003101123456', total = '1130.00000', tax = '130.00000' } = options
  const own =
    kind === 'MensajeReceptor'
      ? '<NumeroConsecutivoReceptor>00100001050000000007</NumeroConsecutivoReceptor>'
      : ''
  return (
    `<?xml version="1.0" encoding="UTF-8"?>\n<${kind} xmlns="${sampleNamespace(kind, '4.4')}"><Clave>${clave}</Clave>` +
    `<NumeroCedulaEmisor>${issuerId}</NumeroCedulaEmisor><Mensaje>${message}</Mensaje>` +
    `<DetalleMensaje>${detail}</DetalleMensaje>` +
    `${tax === null ? '' : `<MontoTotalImpuesto>${tax}</MontoTotalImpuesto>`}` +
    `${total === null ? '' : `<TotalFactura>${total}</TotalFactura>`}<NumeroCedulaReceptor>003101654321</NumeroCedulaReceptor>${own}</${kind}>`
  )
}
