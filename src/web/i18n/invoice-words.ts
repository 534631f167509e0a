// Texts of electronic invoices, in the list and the panel.

import { textTable } from './table-texts.ts'

export const INVOICES = textTable({
  kinds: {
    FacturaElectronica: ['Factura electrónica', 'Electronic invoice'],
    NotaDebitoElectronica: ['Nota de débito', 'Debit note'],
    NotaCreditoElectronica: ['Nota de crédito', 'Credit note'],
    TiqueteElectronico: ['Tiquete electrónico', 'Electronic receipt'],
    FacturaElectronicaCompra: ['Factura electrónica de compra', 'Purchase invoice'],
    FacturaElectronicaExportacion: ['Factura electrónica de exportación', 'Export invoice'],
    ReciboElectronicoPago: ['Recibo electrónico de pago', 'Payment receipt'],
    MensajeHacienda: ['Respuesta de Hacienda', 'Response of Hacienda'],
    MensajeReceptor: ['Respuesta del receptor', 'Response of the receiver'],
  },
  file: ['Archivo', 'File'],
  belongs: ['de un comprobante', 'of an invoice'],

  outcomes: {
    accepted: ['aceptada', 'accepted'],
    partly_accepted: ['aceptada parcialmente', 'partly accepted'],
    rejected: ['rechazada', 'rejected'],
  },
  unverified: (outcome: string) => [
    `${outcome}, según el mensaje recibido; la firma no se verifica`,
    `${outcome}, by the received message; the signature is not verified`,
  ],
  hacienda: (outcome: string) => [`Hacienda: ${outcome}`, `Hacienda: ${outcome}`],
  mismatch: ['no concuerda con el comprobante', 'does not match the invoice'],
  copyOf: (id: number) => [`copia de ${id}`, `copy of ${id}`],
  otherContent: ['contenido distinto', 'different content'],
  claveTwice: [
    'otro documento de la clave tiene otro contenido',
    'another document of the clave has different content',
  ],
  unread: ['no se pudo leer', 'could not be read'],

  rate: {
    marks: {
      compra: ['Tipo de cambio: es la compra', 'Exchange rate: it is the buy rate'],
      previous_venta: [
        'Tipo de cambio: es la venta de otro día',
        'Exchange rate: it is the sell rate of another day',
      ],
      other: (difference: string) => [
        `Tipo de cambio: no es la venta (${difference})`,
        `Exchange rate: not the sell rate (${difference})`,
      ],
      unknown: ['Tipo de cambio: sin valor para comparar', 'Exchange rate: no value to compare with'],
    },
    title: (text: string) => [`Tipo de cambio: ${text}`, `Exchange rate: ${text}`],
    details: {
      venta: ['Es la venta del BCCR', 'It is the sell rate of the BCCR'],
      compra: ['Es la compra del BCCR, no la venta', 'It is the buy rate of the BCCR, not the sell rate'],
      previous_venta: [
        'Es la venta del BCCR de un día anterior',
        'It is the sell rate of the BCCR of an earlier day',
      ],
      other: ['No es la venta del BCCR', 'It is not the sell rate of the BCCR'],
    },
    published: (value: string, day: string) => [
      `publicada ${value} para el ${day}`,
      `published ${value} for ${day}`,
    ],
    computed: (value: string, day: string, via: string) => [
      `calculada ${value} por ${via}, del ${day}`,
      `computed ${value} through ${via}, of ${day}`,
    ],
    difference: (value: string) => [`diferencia ${value}`, `difference ${value}`],
    noValue: [
      'Este servidor no tiene un valor publicado para comparar',
      'This server has no published value to compare with',
    ],
  },

  search: {
    label: ['Cédula del emisor o clave', 'Issuer id or clave'],
    digits: (count: number) => [
      `Una clave tiene 50 dígitos; aquí hay ${count}.`,
      `A clave has 50 digits; these are ${count}.`,
    ],
    text: [
      'Escriba la cédula del emisor o los 50 dígitos de la clave, solo números.',
      'Type the id of the issuer or the 50 digits of the clave, numbers only.',
    ],
    ofIssuer: (id: string) => [`Emisor ${id}`, `Issuer ${id}`],
    ofClave: (clave: string) => [`Clave ${clave}`, `Clave ${clave}`],
    ofName: (text: string) => [`Nombre: ${text}`, `Name: ${text}`],
    clear: ['Quitar', 'Clear'],
  },
})
