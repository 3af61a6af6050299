package problem

import "strings"

// languageTags are the tags of the languages that Polygon names in full.
var languageTags = map[string]string{
	"english": "en", "russian": "ru", "ukrainian": "uk", "belarusian": "be", "kazakh": "kk", "uzbek": "uz", "kyrgyz": "ky",
	"armenian": "hy", "azerbaijani": "az", "georgian": "ka", "polish": "pl", "czech": "cs", "slovak": "sk", "hungarian": "hu",
	"german": "de", "french": "fr", "spanish": "es", "portuguese": "pt", "italian": "it", "dutch": "nl", "swedish": "sv",
	"turkish": "tr", "persian": "fa", "arabic": "ar", "hebrew": "he", "chinese": "zh", "japanese": "ja", "korean": "ko",
	"vietnamese": "vi", "indonesian": "id", "hindi": "hi", "bulgarian": "bg", "romanian": "ro", "serbian": "sr", "croatian": "hr",
	"lithuanian": "lt", "latvian": "lv", "estonian": "et", "greek": "el", "mongolian": "mn",
}

// LanguageTag returns the tag of a language that Polygon names in full, or else its name
// in lower case.
func LanguageTag(name string) string {
	if tag, ok := languageTags[strings.ToLower(name)]; ok {
		return tag
	}
	return strings.ToLower(name)
}
