// Converts amounts with the rates of a cambista server, as exact decimals. Needs .NET Framework 4.5, .NET or Mono.
//
// As a program:  CAMBISTA_KEY=KEY cambista AMOUNT FROM TO DAY [SIDE [DECIMALS]]
// As a class:    Cambista.Convert(1500.50m, "USD", "CRC", new DateTime(2026, 3, 20), decimals: 2).Result
//
// On a weekend or holiday the last published value answers, and Day is its day. An exception is thrown, and no value is
// guessed, for a day that the server has not fetched, for a day after tomorrow, and for a value that is too old.

using System;
using System.Globalization;
using System.IO;
using System.Net;
using System.Text.RegularExpressions;
using System.Threading;

/// <summary>There is no certain answer. Do not book with a value of your own.</summary>
public class CambistaException : Exception
{
    public CambistaException(string message) : base(message) { }
}

public class Conversion
{
    /// <summary>The amount in the other currency; exact without decimals.</summary>
    public decimal Result;
    public decimal Rate;
    /// <summary>On which the rate was published.</summary>
    public DateTime Day;
    /// <summary>Decimals, if the source of the server had rounded the rate.</summary>
    public int? RoundedTo;
}

public static class Cambista
{
    static readonly string Url = Setting("CAMBISTA_URL", "http://127.0.0.1:8080"); // address of the server
    static readonly string Key = Setting("CAMBISTA_KEY", ""); // printed by: cambista key create NAME
    static readonly int TimeoutSeconds = int.Parse(Setting("CAMBISTA_TIMEOUT", "10"));
    const int Attempts = 3;
    const int LongestWait = 60; // seconds that a busy server may ask for between two attempts
    const int OldestValue = 7; // days between the day asked for and its value: holidays are shorter
    const string Iso = "yyyy-MM-dd";

    /// <summary>Converts an amount on a day.</summary>
    public static Conversion Convert(
        decimal amount, string from, string to, DateTime day, string side = "venta", int? decimals = null)
    {
        string on = day.ToString(Iso, CultureInfo.InvariantCulture);
        string path = "/api/v1/convert?amount=" + amount.ToString(CultureInfo.InvariantCulture)
            + "&from=" + Uri.EscapeDataString(from) + "&to=" + Uri.EscapeDataString(to)
            + "&on=" + on + "&type=" + Uri.EscapeDataString(side) + (decimals == null ? "" : "&decimals=" + decimals);
        string answer = Request(path);
        string published = Field(answer, "rate_date");
        DateTime publishedDay = DateTime.ParseExact(published, Iso, CultureInfo.InvariantCulture);
        if (Field(answer, "future") != null) throw new CambistaException(on + " is in the future");
        if ((day.Date - publishedDay).Days > OldestValue)
            throw new CambistaException("the newest value for " + on + " is of " + published + ": the server is behind");
        string rounded = Field(answer, "rounded_to");
        return new Conversion
        {
            Result = Number(Field(answer, "result")),
            Rate = Number(Field(answer, "rate")),
            Day = publishedDay,
            RoundedTo = rounded == null ? (int?)null : int.Parse(rounded),
        };
    }

    /// <summary>Parses a number, which must fit: a decimal would silently drop digits after the 28th.</summary>
    static decimal Number(string text)
    {
        decimal number = decimal.Parse(text, NumberStyles.Number, CultureInfo.InvariantCulture);
        if (number.ToString(CultureInfo.InvariantCulture) != text)
            throw new CambistaException(text + " has more digits than a decimal: ask for fewer decimals");
        return number;
    }

    static string Request(string path)
    {
        for (int attempt = 1; ; attempt++)
        {
            int wait = 1 << (attempt - 1);
            string reason;
            HttpWebRequest request = NewRequest(path);
            try
            {
                string answer = Read((HttpWebResponse)request.GetResponse());
                if (answer.EndsWith("}")) return answer;
                reason = "no complete answer";
            }
            catch (WebException error)
            {
                reason = error.Message; // no connection, or none in time
                HttpWebResponse response = error.Response as HttpWebResponse;
                if (response != null)
                {
                    int status = (int)response.StatusCode;
                    int seconds;
                    if (int.TryParse(response.Headers["Retry-After"], out seconds)) wait = seconds;
                    reason = status + ": " + Read(response);
                    if (status != 429 && status != 502 && status != 503 && status != 504)
                        throw new CambistaException(reason);
                }
            }
            catch (IOException error) // the answer was cut
            {
                reason = error.Message;
            }
            request.Abort();
            if (attempt == Attempts || wait > LongestWait)
                throw new CambistaException(Url + " does not answer: " + reason);
            Thread.Sleep(wait * 1000);
        }
    }

    static HttpWebRequest NewRequest(string path)
    {
#pragma warning disable SYSLIB0014 // HttpWebRequest is in every .NET; HttpClient is not
        HttpWebRequest request = (HttpWebRequest)WebRequest.Create(Url.TrimEnd('/') + path);
#pragma warning restore SYSLIB0014
        request.Headers["X-API-Key"] = Key;
        request.Timeout = request.ReadWriteTimeout = TimeoutSeconds * 1000;
        request.ServicePoint.ConnectionLimit = 100; // of the default of 2, silent connections occupy each one for a while
        request.AllowAutoRedirect = false; // another server must not get the key
        return request;
    }

    static string Read(HttpWebResponse response)
    {
        using (response)
        using (StreamReader reader = new StreamReader(response.GetResponseStream()))
        {
            string text = reader.ReadToEnd();
            int status = (int)response.StatusCode;
            if (status >= 300 && status < 400) throw new CambistaException(status + ": a redirect");
            return text;
        }
    }

    /// <summary>Returns a text or number of an answer. It is one flat object, so this needs no JSON library.</summary>
    static string Field(string answer, string name)
    {
        Match match = Regex.Match(answer, "[{,]\"" + name + "\":\"?([^\",}]*)");
        return match.Success ? match.Groups[1].Value : null;
    }

    static string Setting(string name, string otherwise)
    {
        return Environment.GetEnvironmentVariable(name) ?? otherwise;
    }

    // Leave this out when you add the file to a program of yours.
    public static int Main(string[] words)
    {
        if (words.Length < 4 || words.Length > 6)
        {
            Console.Error.WriteLine("usage: cambista AMOUNT FROM TO DAY [SIDE [DECIMALS]]");
            return 2;
        }
        try
        {
            decimal amount;
            DateTime day;
            int decimals = 0;
            // A comma is no separator of thousands here: 1,5 must not become 15.
            if (!decimal.TryParse(words[0], NumberStyles.AllowDecimalPoint, CultureInfo.InvariantCulture, out amount))
                throw new CambistaException("AMOUNT must be a decimal number, such as 1500.50");
            if (!DateTime.TryParseExact(words[3], Iso, CultureInfo.InvariantCulture, DateTimeStyles.None, out day))
                throw new CambistaException("DAY must be written YYYY-MM-DD");
            if (words.Length > 5 && !int.TryParse(words[5], out decimals))
                throw new CambistaException("DECIMALS must be an integer");
            Conversion conversion = Convert(
                amount, words[1], words[2], day, words.Length > 4 ? words[4] : "venta",
                words.Length > 5 ? (int?)decimals : null);
            Console.WriteLine(string.Format(CultureInfo.InvariantCulture, "{0} {1} {2:yyyy-MM-dd}",
                conversion.Result, conversion.Rate, conversion.Day));
            return 0;
        }
        catch (Exception error) when (error is CambistaException || error is FormatException)
        {
            Console.Error.WriteLine("cambista: " + error.Message);
            return 1;
        }
    }
}
