// Series of the central bank that are known before the first fetch (upstream 3). Each row has the bank's code and name,
// the quoted pair, and the plausible range of today's values.

import type { CatalogueSeries } from '../provider.ts'

/** Tables of the dollar in colones, and of the parities against the dollar. */
export const DOLLAR_TABLE = '1'
export const PARITY_TABLE = '520'

// No document has the code of XDR: an answer supplies it, matched by name.
type ParityRow = [pair: string, code: string | undefined, name: string, low?: string, high?: string]

// biome-ignore format: a table
const PARITIES: ParityRow[] = [
  ['USD/AED', '21264', 'Dirham de Emiratos Arabes Unidos', '3.67', '3.68'],
  ['USD/ARS', '344', 'Peso Argentino', '1000', '2000'],
  ['AUD/USD', '3433', 'Dólar Australiano', '0.4829', '1.1053'],
  ['USD/BDT', '21251', 'Bangladesh Taka', '115', '130'],
  ['USD/BHD', '41438', 'Dinar de Bahréin', '0.37', '0.38'],
  ['USD/BOB', '3054', 'Peso Boliviano', '6.8', '7.0'],
  ['USD/BRL', '346', 'Real Brasilero', '0.84', '6.29'],
  ['USD/CAD', '328', 'Dólar Canadiense', '0.9071', '1.6173'],
  ['USD/CHF', '326', 'Franco Suizo', '0.7274', '1.8284'],
  ['USD/CLP', '3055', 'Peso Chileno', '700', '1050'],
  ['USD/CNY', '3364', 'YUAN', '6.043', '8.277'],
  ['USD/COP', '345', 'Peso Colombiano', '3500', '5000'],
  ['USD/DKK', '342', 'Corona Danesa', '4.665', '9.02'],
  ['USD/DOP', '3043', 'Peso República Dominicana', '55', '66'],
  ['USD/EGP', '21268', 'Libra Egipcia', '45', '55'],
  ['EUR/USD', '333', 'Euro', '0.8252', '1.599'],
  ['GBP/USD', '330', 'Libra Esterlina', '1.0597', '2.1066'],
  ['USD/GTQ', '338', 'Quetzal Guatemalteco', '7.5', '7.9'],
  ['USD/HKD', '3052', 'Dólar de Hong Kong', '7.655', '7.85'],
  ['USD/HNL', '339', 'Lempira Hondureño', '24', '28'],
  ['USD/IDR', '21263', 'Rupia Indonesia', '8458', '17188'],
  ['USD/ILS', '21266', 'Nuevo Shekel Israelí', '3.049', '4.08'],
  ['USD/INR', '21267', 'Rupia India', '44.02', '94.82'],
  ['USD/JOD', '22204', 'Dinar Jordano', '0.7', '0.72'],
  ['USD/JPY', '325', 'Yen Japonés', '75.77', '161.91'],
  ['USD/KRW', '337', 'Won Surcoreano', '900.8', '1583.0'],
  ['USD/LKR', '20873', 'Rupia de Sri Lanka', '6.05', '363.95'],
  ['USD/MAD', '21265', 'Dirham Marroquí', '8.5', '11'],
  ['USD/MXN', '332', 'Peso Mexicano', '9.9', '25.1'],
  ['USD/MYR', '25067', 'Ringgit malayo', '2.939', '4.798'],
  ['USD/NIO', '340', 'Córdoba nicaragüense', '36', '37'],
  ['USD/NOK', '343', 'Corona Noruega', '4.959', '11.482'],
  ['USD/NZD', '21269', 'Dólar Nueva Zelanda', '1.134', '2.551'],
  ['USD/PEN', '3057', 'Nuevo Sol Peruano', '3.2', '4.2'],
  ['USD/PLN', '3430', 'Zloty de Polonia', '2.028', '5.023'],
  ['USD/RUB', '3056', 'Rublo Ruso', '23.09', '105.0'],
  ['USD/SEK', '335', 'Corona Sueca', '5.846', '11.416'],
  ['USD/SGD', '21270', 'Dólar de Singapur', '1.2', '1.855'],
  ['USD/THB', '21262', 'Baht Tailandia', '28.6', '42.14'],
  ['USD/TWD', '3053', 'Dólar de Taiwán', '24.77', '40.5'],
  ['USD/UYU', '84857', 'Peso Uruguayo', '36', '46'],
  ['USD/VES', '60246', 'Bolívar Venezolano'],
  ['USD/VND', '21766', 'Dong Vietnamita', '20000', '27000'],
  ['XDR/USD', undefined, 'Derechos Especiales de Giro', '1.2', '1.6'],
  ['USD/ZAR', '21881', 'Rand Sudafricano', '5.618', '19.784'],
]

export const bccrCatalogue: readonly CatalogueSeries[] = [
  dollarSeries('317', 'Tipo cambio compra', 'compra'),
  dollarSeries('318', 'Tipo cambio venta', 'venta'),
  ...PARITIES.map(paritySeries),
]

function dollarSeries(externalCode: string, name: string, rateType: 'compra' | 'venta'): CatalogueSeries {
  return {
    externalCode,
    name,
    base: 'USD',
    quote: 'CRC',
    rateType,
    table: DOLLAR_TABLE,
    plausibleRange: { low: '400', high: '700' },
  }
}

function paritySeries([pair, externalCode, name, low, high]: ParityRow): CatalogueSeries {
  return {
    externalCode,
    name,
    base: pair.slice(0, 3),
    quote: pair.slice(4),
    rateType: 'referencia',
    table: PARITY_TABLE,
    plausibleRange: low !== undefined && high !== undefined ? { low, high } : undefined,
  }
}
