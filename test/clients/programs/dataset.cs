// Reads the answer of the bank's old service as .NET programs do: into a DataSet, of which the first table has the rows.

using System;
using System.Data;
using System.Globalization;
using System.Net;

static class Program
{
    static void Main(string[] words)
    {
        var rows = new DataSet();
        using (var client = new WebClient())
        using (var answer = client.OpenRead(words[0]))
        {
            rows.ReadXml(answer);
        }
        foreach (DataRow row in rows.Tables[0].Rows)
        {
            var day = Convert.ToDateTime(row["DES_FECHA"]).ToString("yyyy-MM-dd");
            var value = Convert.ToDecimal(row["NUM_VALOR"]).ToString(CultureInfo.InvariantCulture);
            Console.WriteLine(row["COD_INDICADORINTERNO"] + " " + day + " " + value + " " + row["NUM_VALOR"].GetType().Name);
        }
    }
}
