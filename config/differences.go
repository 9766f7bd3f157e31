package config

import (
	"cmp"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"brine/account"
	"brine/mask"
)

// Difference is a setting that differs between two configurations, or an element that only one of them has.
type Difference struct {
	Setting string   `json:"setting"`           // such as pipelines.scans.read.window
	Was     string   `json:"was,omitempty"`     // empty: it was not there
	Becomes string   `json:"becomes,omitempty"` // empty: it is no longer there
	Section string   `json:"-"`                 // such as pipelines.<name>.read
	Name    string   `json:"-"`                 // within the section; Comes or Goes for an element
	Names   []string `json:"-"`                 // the values of the <name>s
	Part    string   `json:"-"`                 // what the setting's field is part of, such as a row key; empty: nothing
}

// Differences returns all settings that differ between two configurations, in the order of the reference. It contains no secrets and no
// values of ${…} or BRINE_ variables.
func Differences(old, new *Config) []Difference {
	d := differ{old: old, new: new}
	d.object(reflect.ValueOf(old).Elem(), reflect.ValueOf(new).Elem(), "", "", nil)
	d.schemas()
	d.identities()
	return d.found
}

// MasksAlike reports whether two configurations hide the same from each role, and from callers without a role.
func MasksAlike(a, b *Config) bool {
	for _, role := range account.Roles {
		if !reflect.DeepEqual(a.maskFrom(string(role)), b.maskFrom(string(role))) {
			return false
		}
	}
	return reflect.DeepEqual(a.Mask(), b.Mask())
}

// differ is one run of Differences.
type differ struct {
	old, new *Config
	found    []Difference
}

// object compares two structs of settings.
func (d *differ) object(old, new reflect.Value, section, at string, names []string) {
	defs, _ := definitionsOf(old.Type())
	for i := range defs {
		def := &defs[i]
		a, b := old.Field(def.index), new.Field(def.index)
		inner, where := join(section, def.name), join(at, def.name)
		switch shapeOf(def.typ) {
		case object:
			d.object(a, b, inner, where, names)
		case named:
			d.named(a, b, inner, where, names)
		case list:
			d.list(a, b, inner, where, names)
		default:
			if !reflect.DeepEqual(a.Interface(), b.Interface()) && !d.followed(def, where) {
				d.add(section, def.name, where, names, d.old.textOf(def, where, a), d.new.textOf(def, where, b))
			}
		}
	}
}

func (d *differ) add(section, name, setting string, names []string, was, becomes string) {
	d.found = append(d.found, Difference{Setting: setting, Was: was, Becomes: becomes, Section: section, Name: name, Names: names})
}

// named compares elements that are identified by name.
func (d *differ) named(old, new reflect.Value, section, at string, names []string) {
	nameOf := func(v reflect.Value) string {
		_, key := definitionsOf(v.Type())
		return v.Field(key).String()
	}
	find := func(in reflect.Value, name string) (v reflect.Value, ok bool) {
		for i := range in.Len() {
			if v = reflect.Indirect(in.Index(i)); nameOf(v) == name {
				return v, true
			}
		}
		return v, false
	}
	for i := range old.Len() {
		was := reflect.Indirect(old.Index(i))
		name := nameOf(was)
		of := append(slices.Clone(names), name)
		if now, ok := find(new, name); ok {
			d.object(was, now, section+".<name>", join(at, name), of)
		} else {
			d.add(section, Goes, join(at, name), of, d.old.brief(was, join(at, name)), "")
		}
	}
	for i := range new.Len() {
		now := reflect.Indirect(new.Index(i))
		name := nameOf(now)
		if _, ok := find(old, name); !ok {
			d.add(section, Comes, join(at, name), append(slices.Clone(names), name), "", d.new.brief(now, join(at, name)))
		}
	}
}

// list compares elements that are identified by position.
func (d *differ) list(old, new reflect.Value, section, at string, names []string) {
	for i := range max(old.Len(), new.Len()) {
		setting := at + "[" + strconv.Itoa(i) + "]"
		switch {
		case i >= new.Len():
			d.add(section, Goes, setting, names, d.old.brief(reflect.Indirect(old.Index(i)), setting), "")
		case i >= old.Len():
			d.add(section, Comes, setting, names, "", d.new.brief(reflect.Indirect(new.Index(i)), setting))
		default:
			d.object(reflect.Indirect(old.Index(i)), reflect.Indirect(new.Index(i)), section+"[]", setting, names)
		}
	}
}

// followed reports whether a setting is a secret that comes from the same file as before. Its content is read again at each use.
func (d *differ) followed(def *definition, setting string) bool {
	was, now := d.old.shown[setting], d.new.shown[setting]
	return def.secret && was == now && strings.Contains(was, "${"+filePrefix)
}

// Meant is a setting of a pipeline, of its tables or indexes, or an element of such a section.
type Meant struct {
	Section, Name, Setting string // as in Difference
	Value                  string
	Unset                  bool // the value is that of a setting which is not written and has no default
}

// EachMeant calls each for all settings of the pipeline and of the tables and indexes that it writes, and for the checksums of its
// schema files. These include everything that determines what becomes of its records.
func (p *Pipeline) EachMeant(each func(Meant)) {
	eachSetting(reflect.ValueOf(p).Elem(), "pipelines.<name>", join("pipelines", p.Name), each)
	for _, t := range p.config.Tables {
		if p.Uses(t.Name) {
			eachSetting(reflect.ValueOf(t).Elem(), "tables.<name>", join("tables", t.Name), each)
		}
	}
	for _, x := range p.config.Indexes {
		if slices.ContainsFunc(p.Documents, func(d Documents) bool { return d.Index == x.Name }) {
			eachSetting(reflect.ValueOf(x).Elem(), "indexes.<name>", join("indexes", x.Name), each)
		}
	}
	for _, e := range []*encoding{&p.values, &p.keys} {
		if e.file != "" {
			name := e.prefix + "schema"
			each(Meant{"pipelines.<name>", name, join("pipelines", p.Name) + "." + name, fmt.Sprint(e.sum), false})
		}
	}
}

// eachSetting walks through a struct of settings.
func eachSetting(v reflect.Value, section, at string, each func(Meant)) {
	defs, _ := definitionsOf(v.Type())
	for i := range defs {
		def := &defs[i]
		f := v.Field(def.index)
		inner, where := join(section, def.name), join(at, def.name)
		switch shapeOf(def.typ) {
		case object:
			eachSetting(f, inner, where, each)
		case named:
			_, key := definitionsOf(elementOf(def.typ))
			for j := range f.Len() {
				element := reflect.Indirect(f.Index(j))
				name := element.Field(key).String()
				each(Meant{Section: inner, Name: Comes, Setting: join(where, name)})
				eachSetting(element, inner+".<name>", join(where, name), each)
			}
		case list:
			for j := range f.Len() {
				each(Meant{Section: inner, Name: Comes, Setting: where + "[" + strconv.Itoa(j) + "]"})
				eachSetting(reflect.Indirect(f.Index(j)), inner+"[]", where+"["+strconv.Itoa(j)+"]", each)
			}
		default:
			each(Meant{section, def.name, where, fmt.Sprintf("%v", f.Interface()), f.IsZero()})
		}
	}
}

// schemas compares the contents of the schema files.
func (d *differ) schemas() {
	for _, p := range d.old.Pipelines {
		now := d.new.Pipeline(p.Name)
		if now == nil {
			continue
		}
		for _, e := range [][2]*encoding{{&p.values, &now.values}, {&p.keys, &now.keys}} {
			if was, is := e[0], e[1]; was.file == is.file && was.sum != is.sum {
				name := was.prefix + "schema"
				d.add("pipelines.<name>", name, join("pipelines", p.Name)+"."+name, []string{p.Name}, was.file, was.file+", changed")
			}
		}
	}
}

// identities marks changes of fields that are part of keys or versions.
func (d *differ) identities() {
	for i := range d.found {
		at := &d.found[i]
		const fields, let = "pipelines.<name>.fields", "pipelines.<name>.let"
		if len(at.Names) < 2 || !strings.HasPrefix(at.Section, fields) && !strings.HasPrefix(at.Section, let) {
			continue
		}
		for _, c := range []*Config{d.old, d.new} {
			p := c.Pipeline(at.Names[0])
			if p == nil {
				continue
			}
			if of := p.Identity()[at.Names[1]]; of != "" {
				at.Part = "field " + at.Names[1] + " is part of " + of
			}
		}
	}
}

// textOf returns the value of a setting for people, or what may be shown of it.
func (c *Config) textOf(d *definition, setting string, v reflect.Value) string {
	shown, ok := c.shown[setting]
	if !ok && d.short { // it may stand for its element
		shown, ok = c.shown[strings.TrimSuffix(setting, "."+d.name)]
	}
	if ok && d.secret {
		return secretText(shown)
	}
	if ok {
		return shown
	}
	if d.secret {
		return mask.If(!v.IsZero(), v.String())
	}
	switch x := v.Interface().(type) {
	case time.Duration:
		return DurationText(x)
	case Path:
		return strings.Join(x, ".")
	case []string:
		texts := make([]string, len(x))
		for i := range x {
			texts[i] = cmp.Or(c.shown[setting+"["+strconv.Itoa(i)+"]"], x[i])
		}
		return strings.Join(texts, ", ")
	default:
		return fmt.Sprint(x)
	}
}

// brief returns a short text of the settings that an element has.
func (c *Config) brief(v reflect.Value, at string) string {
	defs, _ := definitionsOf(v.Type())
	var texts []string
	for i := range defs {
		d := &defs[i]
		f := v.Field(d.index)
		switch s := shapeOf(d.typ); {
		case f.IsZero(), s == object:
		case !s.scalar():
			texts = append(texts, d.name+": …")
		default:
			if text := c.textOf(d, join(at, d.name), f); text != d.fallback {
				texts = append(texts, d.name+": "+text)
			}
		}
	}
	return "{ " + strings.Join(texts, ", ") + " }"
}

// Renewal is a setting whose file, with a certificate or a secret, no longer holds what it held.
type Renewal struct {
	Setting string `json:"setting"` // such as kafka.tls.cert
	Before  string `json:"before"`  // what it held, as a fingerprint
	After   string `json:"after"`
}

// Renewals returns the certificates and secrets that two configurations read from files, and that differ, by setting.
func Renewals(old, new *Config) (renewals []Renewal) {
	for setting, after := range new.files {
		if before, ok := old.files[setting]; ok && before != after {
			renewals = append(renewals, Renewal{setting, before, after})
		}
	}
	slices.SortFunc(renewals, func(a, b Renewal) int { return cmp.Compare(a.Setting, b.Setting) })
	return renewals
}

// fingerprintKey keeps a secret from being guessed by its fingerprint. Fingerprints can only be compared within one process.
var fingerprintKey = func() (key [sha256.Size]byte) {
	_, _ = rand.Read(key[:])
	return key
}()

// held notes what the file of a setting holds, for Renewals.
func (l *loader) held(setting string, content []byte) {
	h := hmac.New(sha256.New, fingerprintKey[:])
	h.Write(content)
	l.files[setting] = hex.EncodeToString(h.Sum(nil)[:6])
}
