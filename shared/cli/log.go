package cli

import (
	"strings"

	"github.com/sirupsen/logrus"
	"github.com/spf13/cobra"
)

// LogTime is the time format of a log line.
const LogTime = "2006-01-02T15:04:05.000Z07:00"

// LogTimes adds the time to every log line, for a command that runs for long.
func (e *Env) LogTimes() {
	if f, ok := e.Log.Formatter.(*plainLog); ok {
		f.DisableTimestamp = false
		f.FullTimestamp = true
		f.TimestampFormat = LogTime
	}
}

// LogFormat adds --log-format to a service: its log is text, or one JSON object a line
// with the fields time, level and msg.
func (e *Env) LogFormat(c *cobra.Command) {
	c.Flags().Func("log-format", "format of the log on stderr, `text or json` (default text)", func(name string) error {
		switch name {
		case "text":
		case "json":
			e.Log.Formatter = &jsonLog{logrus.JSONFormatter{TimestampFormat: LogTime, DisableHTMLEscape: true}}
		default:
			return Usagef("want text or json")
		}
		return nil
	})
	Values(c, "log-format", "text", "json")
}

// JSONLog reports whether log lines are JSON.
func (e *Env) JSONLog() bool {
	_, ok := e.Log.Formatter.(*jsonLog)
	return ok
}

// jsonLog formats log entries as JSON without characters that a terminal interprets.
type jsonLog struct{ logrus.JSONFormatter }

// Format implements logrus.Formatter.
func (f *jsonLog) Format(e *logrus.Entry) ([]byte, error) {
	line, err := f.JSONFormatter.Format(e)
	if err != nil {
		return nil, err
	}
	return append(plainJSON(line[:len(line)-1]), '\n'), nil
}

// plainLog formats log entries with escaped texts; on a terminal logrus prints them
// unchanged.
type plainLog struct{ logrus.TextFormatter }

// Format implements logrus.Formatter.
func (f *plainLog) Format(e *logrus.Entry) ([]byte, error) {
	if f.DisableColors {
		return f.TextFormatter.Format(e) // which quotes the texts
	}
	safe := *e
	safe.Message = Plain(strings.ReplaceAll(e.Message, "\n", "; "))
	safe.Data = make(logrus.Fields, len(e.Data))
	for name, value := range e.Data {
		safe.Data[name] = plainArgument(value)
	}
	return f.TextFormatter.Format(&safe)
}
