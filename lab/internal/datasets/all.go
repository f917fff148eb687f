// SPDX-License-Identifier: Apache-2.0

package datasets

// All are the sets of the figures, with the bytes and SHA-256 of what the files hold uncompressed. Those without a
// checksum were never at hand.
var All = []Set{
	{Name: "Adult", Source: "archive.ics.uci.edu/dataset/2",
		Licence: "CC BY 4.0", Data: []string{"adult", "adult-500"}, Files: []File{
			{"adult/adult.data.gz", 3974305,
				"5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d"},
			{"adult/adult.test.gz", 2003153,
				"a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05"},
		}},
	{Name: "Default of Credit Card Clients", Source: "archive.ics.uci.edu/dataset/350, as the CSV file UCI_Credit_Card.csv",
		Licence: "CC BY 4.0", Data: []string{"credit", "credit-months"}, Files: []File{
			{"credit/UCI_Credit_Card.csv.gz", 2862995,
				"a0f0ab49d6326671d6cd83be5c88dcf18007025fe9a53ecd699119c871176ca1"},
		}},
	{Name: "Sepsis Survival", Source: "archive.ics.uci.edu/dataset/827",
		Licence: "CC BY 4.0", Data: []string{"sepsis"}, Files: []File{
			{"sepsis/s41598-020-73558-3_sepsis_survival_primary_cohort.csv.gz", 985934,
				"6ba4ebd256fa3b5f6c0d42444a3e6b9a4b90d6e493c9efdfedcb2ef7470d4b0f"},
		}},
	{Name: "Bank Marketing", Source: "archive.ics.uci.edu/dataset/222",
		Licence: "CC BY 4.0", Data: []string{"bank"}, Files: []File{
			{"bank/bank-full.csv.gz", 4610348,
				"d1513ec63b385506f7cfce9f2c5caa9fe99e7ba4e8c3fa264b3aaf0f849ed32d"},
			{"bank/bank-additional-full.csv.gz", 5834924,
				"74adfc578bf77a7ff4bb1ba4a9f8709d9e3c6907342959c2c8416847e0afb4d8"},
		}},
	{Name: "KDD Cup 1999, ten percent", Source: "archive.ics.uci.edu/dataset/130",
		Licence: "CC BY 4.0", Data: []string{"kdd99", "intrusion"}, Files: []File{
			{"kdd99/kddcup.data_10_percent.gz", 74889749,
				"f8c8267ebcd9c0ed1fd7d6277fe5bfff8732e9b7db8e61b873542b2a534b6f9a"},
		}},
	{Name: "MNIST", Source: "yann.lecun.com/exdb/mnist",
		Licence: "CC BY-SA 3.0, as commonly stated", Data: []string{"mnist", "mnist-4-9"}, Files: []File{
			{"mnist/train-images-idx3-ubyte.gz", 47040016,
				"ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db"},
			{"mnist/train-labels-idx1-ubyte.gz", 60008,
				"65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5"},
			{"mnist/t10k-images-idx3-ubyte.gz", 7840016,
				"0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7"},
			{"mnist/t10k-labels-idx1-ubyte.gz", 10008,
				"ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2"},
		}},
	{Name: "Fashion-MNIST", Source: "github.com/zalandoresearch/fashion-mnist",
		Licence: "MIT", Data: []string{"fashion"}, Files: []File{
			{"fashion-mnist/train-images-idx3-ubyte.gz", 47040016,
				"c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888"},
			{"fashion-mnist/train-labels-idx1-ubyte.gz", 60008,
				"bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9"},
			{"fashion-mnist/t10k-images-idx3-ubyte.gz", 7840016,
				"5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b"},
			{"fashion-mnist/t10k-labels-idx1-ubyte.gz", 10008,
				"0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34"},
		}},
	{Name: "HAPT, labelled samples", Source: "archive.ics.uci.edu/dataset/341, RawData",
		Licence: "CC BY 4.0", Data: []string{"activity"}, Made: "made of the 122 raw files and labels.txt", Files: []File{
			{"hapt/hapt_labelled_samples.csv.gz", 30831513,
				"ba96ffdc3f643da7ef6b1fcc2fcef77e8ce5fd1200948035a1db5ad0560cdbf3"},
		}},
	{Name: "Phishing Websites", Source: "archive.ics.uci.edu/dataset/327, Training Dataset.arff",
		Licence: "CC BY 4.0", Data: []string{"urls"}, Made: "made of the ARFF file", Files: []File{
			{"phishing/phishing_websites.csv.gz", 800264,
				"48952b6b450427799bdf542d7b8884dc5c0a5b02c7b3d8abb1b1a25622cc5d48"},
		}},
	{Name: "WISDM activity recognition 1.1", Source: "www.cis.fordham.edu/wisdm",
		Licence: "free; asks for a citation, and that its readme.txt goes along", Data: []string{"wisdm"}, Files: []File{
			{"wisdm/WISDM_ar_v1.1_transformed.arff.gz", 1203558,
				"b083abfe759dea1b8f5eae01f2bef135bbecb25246c8d1eb52afdbfadd3e883a"},
		}},
	{Name: "ACSEmployment, 49,000 rows", Source: "US Census Bureau, American Community Survey, coded for Folktables",
		Licence: "public domain", Data: []string{"acs"}, Files: []File{
			{"acs/ACSemployment_train.csv.gz", 1775134,
				"63068e45a0f37162ea57e5743987b1795f116660df5c3667b610abce15c723a0"},
		}},
	{Name: "Artificial Characters, the split of Tab-PE", Source: "archive.ics.uci.edu/dataset/6",
		Licence: "CC BY 4.0", Data: []string{"characters"}, Files: []File{
			{"characters/characters_train.csv.gz", 180329,
				"074a6b0415eb89ce83456930627240e96172a6e27a25f9e7644a5b57463fcb59"},
		}},
	{Name: "UCI HAR", Source: "archive.ics.uci.edu/dataset/240",
		Licence: "CC BY 4.0", Data: []string{"har"}, Files: []File{
			{"uci_har/train/X_train.txt", 0, ""},
			{"uci_har/train/y_train.txt", 0, ""},
			{"uci_har/test/X_test.txt", 0, ""},
			{"uci_har/test/y_test.txt", 0, ""},
		}},
	{Name: "url_svmlight, first day", Source: "archive.ics.uci.edu/dataset/151",
		Licence: "CC BY 4.0", Data: []string{"url-svmlight"}, Files: []File{
			{"url_svmlight/Day0.svm", 0, ""},
		}},
}
